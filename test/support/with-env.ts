// Sets environment variables of the test process for a while.

/** Runs `work` with these variables set. `process.env` stays the same object: another one would not be the environment of the process. */
export async function withEnv<T>(env: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const restore = setEnv(env);
  try {
    return await work();
  } finally {
    restore();
  }
}

/** The same until the returned function is called. */
export function setEnv(env: Readonly<Record<string, string>>): () => void {
  const former = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
