set terminal png size 800,600
set output '/dev/null'
f(n) = n == 0 ? 1 : f(n - 1) + 1
do for [k=1:1000000] {
	set isosamples 60
	splot sin(x * y / 20.0 + k) + f(10) with lines
}
