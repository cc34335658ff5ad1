# picture.gp HITS SIZES OUT: hit rates of the twelve methods on each stream, and bits a value beside others
set terminal pngcairo size 1500,1150 font 'sans,11'
set output ARG3
set multiplot
# hits: a row a method, a column a stream
set size 1,0.48; set origin 0,0.52
set title 'hits of the bidirectional compressors, %' font 'sans,14'
set lmargin 12; set rmargin 12
unset key; set tics out nomirror; set cbrange [0:100]
set palette defined (0 '#f4f1e8', 50 '#7fb7be', 100 '#1b4965')
stats ARG2 using 2 nooutput
n = STATS_records
set xrange [-0.5:n - 0.5]; set yrange [11.5:-0.5]
set xtics rotate by -35
set for [i = 1:n] xtics (system(sprintf("awk 'NR == %d { print $1 }' %s", i, ARG2)) i - 1)
set for [i = 0:11] ytics (system(sprintf("awk '$1 == 0 && $2 == %d { print $4 }' %s", i, ARG1)) i)
plot ARG1 using 1:2:3 with image, \
    '' using 1:($3 < 60 ? $2 : NaN):(sprintf('%.0f', $3)) with labels font 'sans,9' textcolor rgb '#1b4965', \
    '' using 1:($3 < 60 ? NaN : $2):(sprintf('%.0f', $3)) with labels font 'sans,9' textcolor rgb '#f4f1e8'
set ytics autofreq
# sizes: a group of bars a stream
set size 1,0.5; set origin 0,0
set title 'bits a value' font 'sans,14'
set key outside right top samplen 1
set xrange [-0.7:n - 0.3]; set yrange [*:*] noreverse; set logscale y; set format y '%g'; set grid y lc rgb '#dddddd'
set style data histogram; set style histogram clustered gap 1.5; set style fill solid noborder; set boxwidth 0.9
plot ARG2 using 2:xtic(1) lc rgb '#8d99ae' title 'xz -9e', '' using 3 lc rgb '#bcc4d1' title 'zstd -19', '' using 4 lc rgb '#c9b79c' title 'bzip2', \
    '' using 5 lc rgb '#e0d6c3' title 'gzip', '' using 6 lc rgb '#1b6ca8' title 'memory', '' using 7 lc rgb '#2a9d5c' title 'file', \
    '' using 8 lc rgb '#d1495b' title 'bifcm'
unset multiplot
