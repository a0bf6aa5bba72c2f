import { describe, expect, it } from 'vitest';
import {
  afterOutcome,
  nextOperation,
  stateAfterForeignJob,
  stateAfterLostWorker,
  stateAfterRefutedDoubt,
} from '../../src/plan/after-attempt.ts';

describe('after an outcome', () => {
  it.each([
    ['ready', true, false, 'ready', 3],
    ['ready', false, false, 'ready', 2],
    ['rejected', true, false, 'rejected', 3],
    ['failed', true, false, 'failed', 3],
    ['in_doubt', true, false, 'in_doubt', 3],
    ['ready', true, true, 'target', 0],
    ['ready', false, true, 'target', 0],
    ['rejected', true, true, 'target', 0],
    ['failed', true, true, 'target', 0],
    ['in_doubt', true, true, 'in_doubt', 0],
  ] as const)('%s (counted: %s, superseded: %s): %s with %i attempts', (to, counted, superseded, state, attempts) => {
    expect(afterOutcome(to, counted, { attempts: 3, superseded })).toEqual({ state, attempts });
  });
});

describe('after the death of the worker', () => {
  it.each([
    ['create', 99, false, 'in_doubt'],
    ['create', 99, true, 'in_doubt'],
    ['update', 10, false, 'target'],
    ['update', 11, false, 'failed'],
    ['update', 11, true, 'target'],
    ['delete', 10, false, 'target'],
    ['delete', 11, false, 'failed'],
  ] as const)('%s in attempt %i (superseded: %s): %s', (operation, attempts, superseded, state) => {
    expect(stateAfterLostWorker(operation, { attempts, superseded }, 10)).toBe(state);
  });
});

describe('after a doubt was refuted', () => {
  it.each([
    ['fewer attempts than allowed', 4, false, 5, 'target', 4],
    ['as many as allowed', 5, false, 5, 'failed', 0],
    ['as many, of a version that is not the latest', 5, true, 5, 'target', 5],
    ['any, for a person who asks to try again', 9, false, Number.POSITIVE_INFINITY, 'target', 0],
    ['one, its reference is taken by a job of ours', 1, false, 5, 'rejected', 0, 'both'],
    ['none since that job was deleted', 0, false, 5, 'target', 0, 'both'],
    ['any of a former version', 3, true, 3, 'target', 3, 'both'],
    ['two, its reference is taken', 2, false, 5, 'target', 2, 'said'],
    ['three, its reference is taken', 3, false, 5, 'rejected', 0, 'said'],
    ['as many as allowed, its reference is taken', 2, false, 2, 'rejected', 0, 'said'],
    ['one, and the list shows its reference', 1, false, 2, 'target', 1, 'listed'],
    ['as many as allowed, and the list shows it', 2, false, 2, 'rejected', 0, 'listed'],
    ['one, taken, for a person', 1, false, Number.POSITIVE_INFINITY, 'target', 0, 'both'],
  ] as const)('%s', (_name, attempts, superseded, mostTries, state, left, taken = undefined) => {
    expect(stateAfterRefutedDoubt({ attempts, superseded }, mostTries, taken)).toEqual({ state, attempts: left });
  });
});

describe('the operation of the next version', () => {
  it.each([
    ['absent', 'create', false, 'delete'],
    ['absent', 'update', true, 'delete'],
    ['absent', 'delete', false, 'delete'],
    ['present', 'create', false, 'update'],
    ['present', 'update', false, 'update'],
    ['present', 'update', true, 'create'],
    ['present', 'delete', false, 'create'],
  ] as const)('%s after a %s (job vanished: %s): %s', (desired, sent, vanished, operation) => {
    expect(nextOperation(desired, sent, vanished)).toBe(operation);
  });
});

it.each([
  ['present', 'in_doubt'],
  ['absent', 'ready'],
] as const)('a posting that should be %s and lost its job to another is %s', (desired, state) => {
  expect(stateAfterForeignJob(desired)).toBe(state);
});
