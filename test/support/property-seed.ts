// Makes the property tests of every run try the same cases: a change is judged by itself. FC_SEED=random tries new ones.
import fc from 'fast-check';

const given = process.env.FC_SEED ?? '20261120';
if (given !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });
