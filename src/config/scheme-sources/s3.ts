// `s3://bucket/key`: an object, or the objects of a folder, in S3-compatible storage.
import { z } from 'zod';
import { fileFault, readSecret, secretText } from '../read-secret.ts';
import { exactlyOne, fileSchema, needsOneSecret, secretSchema } from '../schema/scalars.ts';
import { schemeSource } from './scheme-source.ts';

const s3Schema = z
  .strictObject({
    access_key_id: z.string().min(1).describe("The access key's ID."),
    secret_access_key: secretSchema.optional().describe(`The secret access key: \`\${NAME}\`, from the environment.`),
    secret_access_key_file: fileSchema
      .optional()
      .describe('Instead of `secret_access_key`: a file that holds it, relative to this file.'),
    session_token: secretSchema.optional().describe(`Of temporary credentials: \`\${NAME}\`, from the environment.`),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'must be the name of a region, such as us-east-1')
      .default('us-east-1')
      .describe('The region of the bucket.'),
    endpoint: z
      .string()
      .refine(
        (text) => /^https?:\/\/[^/?#@\\]+\/?$/i.test(text) && URL.canParse(text),
        'must be an address such as https://minio.example.com:9000, without path, user name and password',
      )
      .optional()
      .describe("The address of a service other than Amazon's."),
  })
  .refine((s3) => exactlyOne(s3.secret_access_key, s3.secret_access_key_file), needsOneSecret('secret_access_key'));

const variable = (name: string): string => `\${${name}}`;

export const s3Scheme = schemeSource({
  scheme: 's3',
  description: 'The access key of an S3-compatible service.',
  needs: 'a source in s3 needs access_key_id and secret_access_key',
  credentials: s3Schema,
  isHost: false,
  faultOf: (address, files) =>
    files === undefined && /^s3:\/\/[^/]*(?:\/$|$)|\/$/i.test(address)
      ? 'names no object; add its key, or set files: newest or files: all'
      : undefined,
  async opener(written, around) {
    const secretAccessKey = await readSecret(written, [['s3'], 'secret_access_key'], around, fileFault);
    if (secretAccessKey === undefined) return undefined;
    const { access_key_id: accessKeyId, session_token: token, region, endpoint } = written;
    const sessionToken = secretText(token, ['s3', 'session_token'], around);
    const access = { accessKeyId, secretAccessKey, sessionToken, region, endpoint };
    return (address, files) => {
      const [bucket = '', ...rest] = address.replace(/^s3:\/\//i, '').split('/');
      const whole = decodeURIComponent(rest.join('/'));
      if (files === undefined) return { kind: 's3', bucket, key: whole, pick: undefined, access };
      const name = whole.slice(whole.lastIndexOf('/') + 1);
      const hasPattern = /[*?]/.test(name);
      const folder = hasPattern ? whole.slice(0, whole.length - name.length) : whole;
      const key = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
      return { kind: 's3', bucket, key, pick: { pattern: hasPattern ? name : '*', pick: files }, access };
    };
  },
  init: {
    options: [
      ['--region <region>', 'the region; the access key comes from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
      ['--endpoint <url>', "the address of a service other than Amazon's"],
    ],
    // The variables are those that other programs for such storage read.
    propose(address, options, { env }) {
      const unset = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((name) => !env[name]);
      const region = options.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
      const endpoint = options.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
      return {
        missing: [unset.length > 0 && `the access key in the environment: ${unset.join(' and ')}`],
        source: address,
        written: {
          access_key_id: variable('AWS_ACCESS_KEY_ID'),
          secret_access_key: variable('AWS_SECRET_ACCESS_KEY'),
          ...(env.AWS_SESSION_TOKEN ? { session_token: variable('AWS_SESSION_TOKEN') } : {}),
          ...(region ? { region } : {}),
          ...(endpoint ? { endpoint } : {}),
        },
        now: { access_key_id: env.AWS_ACCESS_KEY_ID },
        secrets: {},
      };
    },
  },
});
