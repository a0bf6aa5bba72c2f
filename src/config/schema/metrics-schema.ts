// The schema of the settings for `/metrics`.
import { z } from 'zod';

export const metricsSchema = z
  .strictObject({
    token: z
      .string()
      .regex(
        /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
        `must be exactly \${NAME}, the name of an environment variable; or use token_file`,
      )
      .optional()
      .describe(
        `What Prometheus has to send (\`Authorization: Bearer …\`): \`\${NAME}\`, from the environment. Without one, \`/metrics\` answers only if \`listen.host\` is a loopback address.`,
      ),
    token_file: z
      .string()
      .min(1)
      .optional()
      .describe('Instead of `token`: a file that holds it, relative to this file.'),
  })
  .refine(({ token, token_file }) => token === undefined || token_file === undefined, {
    error: 'has both token and token_file; keep one of them',
  });
