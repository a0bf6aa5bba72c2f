// An object, or the objects of a folder, in S3-compatible storage as a source.
import type { SourceKind } from '../source.ts';
import { type S3Config, s3Place } from './s3-config.ts';

export const s3Source: SourceKind<S3Config> = {
  isRemote: true,
  isRepeatable: true,
  // The library that reads lists is loaded only for a pull.
  open: async (config, context) => (await import('./open-s3.ts')).openS3(config, context),
  request: ({ kind, bucket, key, pick, access: { accessKeyId, region, endpoint } }) => ({
    kind,
    bucket,
    key,
    pick,
    accessKeyId,
    region,
    endpoint,
  }),
  placeOf: s3Place,
  secretsOf: ({ access: { secretAccessKey, sessionToken } }) =>
    [secretAccessKey, sessionToken].flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])),
  publicConfig({ access: { accessKeyId, region, endpoint }, pick, ...config }) {
    const place = `${endpoint ?? ''} ${s3Place({ ...config, pick })}`;
    return { place, settings: { accessKeyId, region, pick: pick?.pick } };
  },
};
