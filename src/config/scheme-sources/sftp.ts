// `sftp://host/path`: a file, or the files of a folder, on an SFTP server. `/~/` stands for the user's folder.
import { posix, relative, resolve } from 'node:path';
import { z } from 'zod';
import { fileFault, readKey, readSecret, secretText } from '../read-secret.ts';
import { exactlyOne, fileSchema, secretSchema } from '../schema/scalars.ts';
import { Secret } from '../secret.ts';
import { schemeSource } from './scheme-source.ts';

const hostKeySchema = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, 'must be a fingerprint as ssh-keygen -l prints it: SHA256: and 43 characters')
  .transform((fingerprint) => fingerprint.replace(/=$/, ''));

const sftpSchema = z
  .strictObject({
    user: z.string().min(1).describe('The user name.'),
    password: secretSchema.optional().describe(`The password: \`\${NAME}\`, from the environment.`),
    password_file: fileSchema
      .optional()
      .describe('Instead of `password`: a file that holds it, relative to this file.'),
    key_file: fileSchema
      .optional()
      .describe("Instead of a password: a private key, in OpenSSH's format or PEM, relative to this file."),
    passphrase: secretSchema.optional().describe(`The passphrase of the key: \`\${NAME}\`, from the environment.`),
    host_key: z
      .union([hostKeySchema, z.array(hostKeySchema).min(1)])
      .transform((keys) => [keys].flat())
      .describe(
        "The fingerprint of the server's host key, `SHA256:…`, or several. A server with another key gets nothing. Ask its operator, or compare with `ssh-keyscan HOST | ssh-keygen -lf -`.",
      ),
  })
  .refine(({ password, password_file, key_file }) => exactlyOne(password, password_file, key_file), {
    error: `needs exactly one of password: \${NAME}, password_file: PATH and key_file: PATH`,
    path: ['password'],
  })
  .refine(({ passphrase, key_file }) => passphrase === undefined || key_file !== undefined, {
    error: 'works only with key_file',
    path: ['passphrase'],
  });

export const sftpScheme = schemeSource({
  scheme: 'sftp',
  description: 'The user of an SFTP server, and the pinned key of the server.',
  needs: 'a source over sftp needs user, password or key_file, and host_key',
  credentials: sftpSchema,
  isHost: true,
  async opener(written, around) {
    const password = await readSecret(written, [['sftp'], 'password'], around, fileFault);
    const key = await readKey(written.key_file, 'sftp', around);
    if (key !== undefined && !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
      around.complain(['sftp', 'key_file'], 'the file holds no private key (-----BEGIN … PRIVATE KEY-----)');
    }
    const login = {
      user: written.user,
      password,
      key: key === undefined ? undefined : new Secret(`${key}\n`),
      passphrase: secretText(written.passphrase, ['sftp', 'passphrase'], around),
      hostKeys: written.host_key,
    };
    return (address, files) => {
      const { hostname, port, pathname } = new URL(address);
      const whole = decodeURIComponent(pathname);
      const path = whole.startsWith('/~/') ? whole.slice(3) || '.' : whole;
      const name = posix.basename(path);
      const hasPattern = files !== undefined && /[*?]/.test(name);
      return {
        kind: 'sftp',
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? 22 : Number(port),
        path: hasPattern ? posix.dirname(path) : path,
        pick: files === undefined ? undefined : { pattern: hasPattern ? name : '*', pick: files },
        login,
      };
    };
  },
  init: {
    options: [
      ['--user <name>', 'the user name; the password comes from the variable FEED_PASSWORD, named after the feed'],
      ['--key-file <file>', 'instead of a password, a private key; its passphrase comes from FEED_PASSPHRASE'],
      ['--host-key <fingerprint>', "the fingerprint of the server's host key, SHA256:…"],
    ],
    propose(address, options, { prefix, folder, env }) {
      const url = new URL(address);
      const password = decodeURIComponent(url.password);
      const user = options.user ?? decodeURIComponent(url.username);
      const [passwordVariable, passphraseVariable] = [`${prefix}_PASSWORD`, `${prefix}_PASSPHRASE`];
      const keyFile = options.keyFile === undefined ? undefined : relative(folder, resolve(String(options.keyFile)));
      const hasPassword = password !== '' || Boolean(env[passwordVariable]);
      url.username = '';
      url.password = '';
      const login = keyFile === undefined ? { password: `\${${passwordVariable}}` } : { key_file: keyFile };
      const hasPassphrase = keyFile !== undefined && Boolean(env[passphraseVariable]);
      return {
        missing: [
          user === '' && '--user NAME, the user name',
          keyFile === undefined &&
            !hasPassword &&
            `--key-file FILE, a private key, or the password in the environment variable ${passwordVariable}`,
          options.hostKey === undefined &&
            `--host-key SHA256:…, the fingerprint of the server's host key: ask its operator, or compare with ssh-keyscan ${url.port === '' ? '' : `-p ${url.port} `}${url.hostname} | ssh-keygen -lf -`,
        ],
        source: url.href,
        written: {
          user,
          ...login,
          ...(hasPassphrase ? { passphrase: `\${${passphraseVariable}}` } : {}),
          host_key: options.hostKey,
        },
        secrets: keyFile === undefined && password !== '' ? { [passwordVariable]: password } : {},
      };
    },
  },
});
