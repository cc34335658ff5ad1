# Laplace's formats, as a library
"$BUILD/test/laplacetest"
