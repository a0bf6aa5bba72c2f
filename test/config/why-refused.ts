// What is said about a configuration that is refused.
import { expect } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';

export async function whyRefused(loading: Promise<unknown>): Promise<string> {
  const error: unknown = await loading.then(
    () => new Error('it was accepted'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).message;
}
