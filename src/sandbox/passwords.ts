// Turns passwords into salted scrypt hashes, and random bytes into tokens.
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
 * Whether the password is the one that was hashed.
 * @param stored what {@link hashPassword} gave; `undefined` (no such account) takes as long and is never right
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = stored?.split(':') ?? [];
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(password, Buffer.from(salt, 'base64'));
  return expected.length === HASH_BYTES && timingSafeEqual(actual, expected);
}

/** A new secret of 160 random bits, made of characters that no header, URL or form needs to escape. */
export const newSecret = (): string => randomBytes(20).toString('hex');
