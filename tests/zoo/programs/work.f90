program zoo
    implicit none
    real :: total
    total = 0
    do
        total = total + multiply(60)
        total = total + hanoi(12)
        call format_numbers()
    end do
contains
    recursive function hanoi(n) result(moves)
        integer, intent(in) :: n
        real :: moves
        if (n == 0) then
            moves = 0
        else
            moves = hanoi(n - 1) + 1 + hanoi(n - 1)
        end if
    end function
    function multiply(n) result(trace)
        integer, intent(in) :: n
        real :: trace, a(n, n), b(n, n), c(n, n)
        integer :: i
        call random_number(a)
        call random_number(b)
        c = matmul(a, b)
        trace = 0
        do i = 1, n
            trace = trace + c(i, i)
        end do
    end function
    subroutine format_numbers()
        character(len=40) :: line
        integer :: i
        do i = 1, 300
            write (line, '(i8,f12.4)') i, i / 3.0
        end do
    end subroutine
end program
