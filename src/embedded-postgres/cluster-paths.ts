// The paths of the files in a cluster's folder, its "home".
import { join } from 'node:path';

export interface ClusterPaths {
  /** Postgres' data folder, owned by the user the server runs as. The user who started it owns everything else here. */
  readonly data: string;
  readonly log: string;
  /** The port that the server last used: it is reused, to let clients reconnect after a restart. */
  readonly port: string;
  /** The password of the only database user. */
  readonly password: string;
  /** Holds the path of the link in the data folder that points to this cluster. */
  readonly madeFor: string;
}

export const clusterPaths = (home: string): ClusterPaths => ({
  data: join(home, 'data'),
  log: join(home, 'server.log'),
  port: join(home, 'port'),
  password: join(home, 'password'),
  madeFor: join(home, 'made-for'),
});
