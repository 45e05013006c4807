#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Part of the demonstration: a shop that answers requests. It searches its list of offers from the
beginning for each item of a basket, which is why it is slow; it packs its answers by zlib, and a
thread keeps a journal of what was sold. No sleep and no disk: it asks itself."""

import hashlib
import json
import queue
import threading
import zlib

OFFERS = [(f"item {number}", 17 * number % 1999) for number in range(400)]
SOLD = queue.Queue(maxsize=64)


class Basket:
    def __init__(self, items):
        self.items = items

    def total(self):
        cents = 0
        for item in self.items:
            cents += find_price(item)
        return cents


def find_price(item):
    for name, cents in OFFERS:
        if name == item:
            return cents
    return 0


def parse_request(text):
    return Basket(json.loads(text)["items"])


def pack_answer(answer):
    return zlib.compress(json.dumps(answer).encode(), 9)


def handle_request(text):
    basket = parse_request(text)
    answer = {"total": basket.total(), "items": basket.items}
    SOLD.put(answer["total"])
    return pack_answer(answer)


def keep_journal():
    seal = b""
    while True:
        page = f"{SOLD.get()} cents\n".encode() * 4000
        seal = hashlib.sha256(seal + page).digest()


def serve():
    number = 0
    while True:
        number += 1
        items = [f"item {(number * 7 + i * 31) % 400}" for i in range(40)]
        handle_request(json.dumps({"items": items}))


def main():
    threading.Thread(target=keep_journal, name="journal", daemon=True).start()
    serve()


main()
