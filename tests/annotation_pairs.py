"""Pairs of many shapes and scripts, in invented words and sentences, for the tests of the page."""

import random

_PARTS = ["ka", "lo", "mi", "ren", "tus", "va", "dor", "pel", "ni", "sha", "ru", "go", "bin", "ast"]
_ENGLISH = """
in a small town near the sea lives a family that loves books and reads every evening a long
story about a journey to an island far away"""
_ARABIC = """
في مدينة صغيرة قرب البحر تعيش عائلة تحب الكتب وتقرأ كل مساء قصة طويلة عن السفر إلى جزيرة بعيدة"""
_CHINESE = """
在 海边 的 小城 里 住 着 一家 喜欢 读书 的 人 ， 他们 每天 晚上 读 一个 关于 远行 的 长 故事 。"""


def shapes():
    rng = random.Random(5)

    def words(count):
        return ["".join(rng.choices(_PARTS, k=rng.randint(1, 4))) for _ in range(count)]

    def pair(name, source, target):
        n, m = len(source), len(target)
        links = {(i, min(m - 1, max(0, i * m // n + rng.choice([0, 0, 0, -1, 2]))))
                 for i in range(n)}  # fmt: skip
        links |= {(i, j) for i in (n // 2, n // 2 + 1) for j in (m // 2, m // 2 + 1)}
        auto = " ".join(f"{i}-{j}" for i, j in sorted(links))
        return {"id": name, "source": source, "target": target,
                "annotations": {"auto": {"sure": auto}}}  # fmt: skip

    return [*(pair(f"{n} x {m}", words(n), words(m)) for n, m in ((8, 9), (30, 35), (100, 100))),
            pair("arabic", _ENGLISH.split(), _ARABIC.split()),
            pair("chinese", _ENGLISH.split(), _CHINESE.split())]  # fmt: skip
