\ Gforth
: hanoi ( n -- m ) dup 0= if exit then 1- recurse dup + 1+ ;
: area ( side depth -- x ) dup 0= if drop dup * exit then 1- recurse 1+ ;
: work 0 500 0 do i 20 area + 10 hanoi + loop drop ;
: main-loop begin work again ;
main-loop
