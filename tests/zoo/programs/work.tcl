proc area {side depth} {
	if {$depth == 0} { return [expr {$side * $side}] }
	return [expr {[area $side [expr {$depth - 1}]] + 1}]
}
proc words {} {
	set all {}
	for {set i 0} {$i < 500} {incr i} { lappend all "word[expr {$i * 7919 % 500}]" }
	set found 0
	foreach word [lsort -command {string compare} $all] {
		if {[regexp {([a-z]+)(4[0-9]*)} $word]} { incr found }
	}
	return $found
}
proc work {} {
	set sum [words]
	for {set i 0} {$i < 100} {incr i} { incr sum [area $i 20] }
	return $sum
}
while 1 { work }
