// Accounts of the sandbox that most tests need, made once for the whole run because hashing a password takes long.

export const ACCOUNTS = [
  { email: 'mirror@example.com', password: 'a password of the mirror' },
  { email: 'somebody@example.com', password: 'quite another password' },
] as const;
