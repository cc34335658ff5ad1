# Program analysis against brute force
"$BUILD/test/flowtest"
