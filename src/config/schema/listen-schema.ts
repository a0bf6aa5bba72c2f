// The schema of where `start` listens.
import { z } from 'zod';

export const listenSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('The address. Any other than loopback is open to the network.'),
  port: z.int().min(0).max(65535).default(8080).describe('The port; 0: any free one.'),
});
