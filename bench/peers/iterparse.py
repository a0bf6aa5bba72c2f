# Python's streaming parser over a file: builds a tree for each record, reads its key, and frees it.
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
peak = used.ru_maxrss * 1024
if sys.platform == "linux":
    # ru_maxrss starts with the value of the parent process.
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
with open(os.environ["BENCH_USAGE_FILE"], "w") as file:
    json.dump({"cpuSeconds": used.ru_utime + used.ru_stime, "peakBytes": peak}, file)
