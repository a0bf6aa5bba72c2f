// Fixes the seed of property tests, so each run tries the same cases. FC_SEED=random tries new ones.
import fc from 'fast-check';

const given = process.env.FC_SEED ?? '20261120';
if (given !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });
