# Python's streaming parser over a file: each record as a tree, its key read, then forgotten.
import json
import os
import resource
import sys
import time
from xml.etree.ElementTree import iterparse

started = time.perf_counter()
keys = 0
root = None
for event, element in iterparse(sys.argv[1], events=("start", "end")):
    if root is None:
        root = element
    if event == "end" and element.tag == "job":
        keys += element.findtext("referencenumber") is not None
        root.clear()
print(json.dumps({"seconds": time.perf_counter() - started, "records": keys}))
used = resource.getrusage(resource.RUSAGE_SELF)
with open(os.environ["BENCH_USAGE_FILE"], "w") as file:
    json.dump({"cpuSeconds": used.ru_utime + used.ru_stime, "peakBytes": used.ru_maxrss * 1024}, file)
