# SPDX-License-Identifier: GPL-2.0-or-later
"""The input of programs that work on data: always the same text, image, sound and film."""

import array
import gzip
import random


def write(path, make):
    if not path.exists():
        part = path.with_suffix(".part")
        make(part)
        part.rename(path)


def text(path):
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 9))) for _ in range(3000)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(150000):
            print(*chance.choices(words, k=chance.randint(4, 12)), chance.randint(0, 99999), file=file)


def image(path):
    chance = random.Random(2)
    rows = bytearray()
    for y in range(1200):
        rows += bytes(value & 255 for x in range(1600)
                      for value in (x * y >> 8, x + y, (x ^ y) + chance.getrandbits(3)))
    path.write_bytes(b"P6\n1600 1200\n255\n" + rows)


def sound(path):
    chance = random.Random(3)
    samples = array.array("h", (int(8000 * ((i * 440 // 44100) % 2) + chance.randint(-900, 900))
                                for i in range(44100 * 20)))
    data = samples.tobytes()
    head = b"RIFF" + (36 + len(data)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + \
        (1).to_bytes(2, "little") + (1).to_bytes(2, "little") + (44100).to_bytes(4, "little") + \
        (88200).to_bytes(4, "little") + (2).to_bytes(2, "little") + (16).to_bytes(2, "little") + \
        b"data" + len(data).to_bytes(4, "little")
    path.write_bytes(head + data)


def film(path):
    wide, high = 640, 360
    noise = random.Random(4).randbytes(wide * high * 2)
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n" % (wide, high))
        for frame in range(60):
            at = frame * 977 % (wide * high)
            luma = bytearray(noise[at:at + wide * high])
            for y in range(0, high, 2):     # half of the rows are smooth and move
                luma[y * wide:(y + 1) * wide] = bytes((x + y + 3 * frame) & 255 for x in range(wide))
            file.write(b"FRAME\n" + luma + noise[:wide * high // 4] * 2)


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "text", text)
    write(folder / "image.ppm", image)
    write(folder / "sound.wav", sound)
    write(folder / "film.y4m", film)
    write(folder / "text.gz", lambda part: part.write_bytes(
        gzip.compress((folder / "text").read_bytes())))
