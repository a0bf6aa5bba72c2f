// Recognises secrets that webhooks can be signed with.

/** Standard Webhooks, "Signature scheme": Base64 of 24 to 64 random bytes, with or without the prefix. */
export function isSigningSecret(text: string): boolean {
  const encoded = text.replace(/^whsec_/, '');
  const bytes = Buffer.from(encoded, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0 && bytes.length >= 24 && bytes.length <= 64;
}

export const NO_SIGNING_SECRET = 'must have 24 to 64 bytes in Base64; make one with: openssl rand -base64 32';
