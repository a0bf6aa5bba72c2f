// Hashes passwords with salted scrypt, and generates random secrets.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const SALT_BYTES = 16;
const HASH_BYTES = 32;

const derive = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** A hash to store: `salt:hash`, both Base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return `${salt.toString('base64')}:${(await derive(password, salt)).toString('base64')}`;
}

/**
 * Whether the password matches the hash.
 * @param stored the result of {@link hashPassword}; `undefined` (no such account) takes as long and never matches
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = stored?.split(':') ?? [];
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(password, Buffer.from(salt, 'base64'));
  return expected.length === HASH_BYTES && timingSafeEqual(actual, expected);
}

/** A new secret of 160 random bits, in characters that need no escaping in headers, URLs or forms. */
export const newSecret = (): string => randomBytes(20).toString('hex');
