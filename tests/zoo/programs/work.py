# SPDX-License-Identifier: GPL-2.0-or-later
import re
import sys


class Square:
    def __init__(self, side):
        self.side = side

    def area(self, depth):
        return self.side * self.side if depth == 0 else self.area(depth - 1) + 1


def thrower(number):
    if number % 3 == 0:
        raise ValueError("third")
    return number


def words():
    everything = ["word%d" % (i * 7919 % 500) for i in range(500)]
    everything.sort(key=lambda word: word[::-1])
    return sum(1 for word in everything if re.match("([a-z]+)(4[0-9]*)", word))


def work():
    total = words()
    for i in range(200):
        total += Square(i).area(20)
    for i in range(20):
        try:
            total += thrower(i)
        except ValueError:
            total += 1
    return total


def main():
    while True:
        work()


main()
