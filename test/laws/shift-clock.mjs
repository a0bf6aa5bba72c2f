// Loaded into a process first (`node --import`): on SIGUSR2 its clock jumps by CLOCK_SHIFT_MS.
const RealDate = Date;
let shift = 0;
process.on('SIGUSR2', () => {
  shift = Number(process.env.CLOCK_SHIFT_MS);
});
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [RealDate.now() + shift] : parts));
  }
  static now() {
    return RealDate.now() + shift;
  }
};
