// Hashes and checks the passwords of users of the pages, with scrypt from node:crypto, in the PHC string format.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * The cost of new hashes: 32 MiB and three passes, one of the settings that OWASP's Password Storage Cheat Sheet recommends for
 * scrypt. Settings with more memory and fewer passes are as strong, but a few sign-ins at once would need too much of it.
 */
const COST = { ln: 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** A hash that was made elsewhere must not take much more memory or time. */
const MOST_MEMORY = 256 * 1024 * 1024;
const MOST_PASSES = 16;

interface ParsedHash {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** `$scrypt$ln=15,r=8,p=3$SALT$HASH`, both Base64 without padding. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, { ...COST, salt, hash: Buffer.alloc(HASH_BYTES) });
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Whether the password matches the hash.
 * @param stored the result of {@link hashPassword}; `undefined` (no such user) takes as long and never matches
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const parsed = stored === undefined ? undefined : parsePasswordHash(stored);
  const expected = parsed ?? { ...COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };
  const actual = await derive(password, expected);
  return timingSafeEqual(actual, expected.hash) && parsed !== undefined;
}

/** `undefined` if the text is no hash that {@link verifyPassword} can check within its limits. */
export function parsePasswordHash(text: string): ParsedHash | undefined {
  const [, ln, r, p, salt = '', hash = ''] = PHC.exec(text) ?? [];
  const parsed = { ln: Number(ln), r: Number(r), p: Number(p), salt: decoded(salt), hash: decoded(hash) };
  const isSensible = parsed.ln >= 10 && parsed.r >= 1 && parsed.p >= 1 && parsed.p <= MOST_PASSES;
  return isSensible && memoryOf(parsed) <= MOST_MEMORY ? parsed : undefined;
}

const memoryOf = ({ ln, r }: Pick<ParsedHash, 'ln' | 'r'>): number => 128 * 2 ** ln * r;

const derive = (password: string, { ln, r, p, salt, hash }: ParsedHash): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Twice what it needs: Node counts some bytes of its own.
    const options = { N: 2 ** ln, r, p, maxmem: 2 * memoryOf({ ln, r }) };
    scrypt(password.normalize('NFKC'), salt, hash.length, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const decoded = (text: string): Buffer => Buffer.from(text, 'base64');
