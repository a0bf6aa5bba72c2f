// Loaded into a measured process by --import: writes down at its end what the process used.
import { writeFileSync } from 'node:fs';

const file = process.env.BENCH_USAGE_FILE;
if (file !== undefined) {
  process.once('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    // Microseconds and KiB (Node's documentation of process.resourceUsage).
    const usage = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 };
    writeFileSync(file, JSON.stringify(usage));
  });
}
