# picture.gp PARTS RATIOS OUT: shares of a WET's components (figure 8), and ratio by length of the run (figure 9)
set terminal pngcairo size 1500,1150 font 'sans,11'
set output ARG3
set multiplot
# parts: program, 0 to 3, shares of time stamps, values, edges
set size 1,0.5; set origin 0,0.5
set title 'time stamps, values, edges, %: before, after tier 1, after tier 2 (wetz -m paper), in wetz -m full' font 'sans,14'
set lmargin 10; set rmargin 16
set key outside right top samplen 1; set tics out nomirror; set yrange [0:100]; set grid y lc rgb '#dddddd'
names = system(sprintf("awk '!seen[$1]++ { print $1 }' %s", ARG1))
n = words(names)
at(p, k) = (sum [i = 1:n] (word(names, i) eq p ? i - 1 : 0)) + (k - 1.5) * 0.21
set xrange [-0.6:n - 0.4]
set xtics (word(names, 1) 0); set for [i = 2:n] xtics add (word(names, i) i - 1)
set style fill solid noborder; set boxwidth 0.18
plot ARG1 using (at(strcol(1), $2)):(100) with boxes lc rgb '#d1495b' title 'edges', \
    '' using (at(strcol(1), $2)):($3 + $4) with boxes lc rgb '#2a9d5c' title 'values', \
    '' using (at(strcol(1), $2)):3 with boxes lc rgb '#1b6ca8' title 'time stamps'
# ratios: a program a line; its file ratio.NAME has millions of statements and ratio
set size 1,0.5; set origin 0,0
set title 'ratio of wetz -m full by the length of the run' font 'sans,14'
set xrange [0:*]; set yrange [*:*]; set logscale y; set xtics auto; set xlabel 'millions of statements'
files = system(sprintf("cat %s", ARG2))
plot for [f in files] 'ratio.'.f using 1:2 with linespoints lw 2 pt 7 ps 0.4 title f
unset multiplot
