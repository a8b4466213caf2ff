"""Two ways to join texts: pagewise bench mine.py"""
import pagewise

pagewise.param("parts", "100,10000")


@pagewise.bench(baseline=True)
def joined(run):
    parts = ["word %d" % i for i in range(run.value("parts"))]
    with run.phase("join"):
        text = "".join(parts)
    return text


@pagewise.bench
def added(run):
    parts = ["word %d" % i for i in range(run.value("parts"))]
    with run.phase("join"):
        text = ""
        for part in parts:
            text += part
    return text
