// Loaded into a measured process by --import: records the CPU time and memory of the process when it ends.
import { readFileSync, writeFileSync } from 'node:fs';

const file = process.env.BENCH_USAGE_FILE;
if (file !== undefined) {
  process.once('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: peakBytes() }));
  });
}

/** Reads /proc on Linux, because `maxRSS` there starts with the value of the parent process. */
function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}
