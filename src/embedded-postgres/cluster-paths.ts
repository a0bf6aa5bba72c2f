// Names the files of one cluster's folder, its "home".
import { join } from 'node:path';

export interface ClusterPaths {
  /** Postgres' own data folder; it belongs to the user the server runs as, everything else here to whoever started it. */
  readonly data: string;
  readonly log: string;
  /** The port that the server last listened on: kept, so that connections find it again after a restart. */
  readonly port: string;
  /** The password of the only database user. */
  readonly password: string;
  /** Holds the path of the link that points here from the data folder this cluster was made for. */
  readonly madeFor: string;
}

export const clusterPaths = (home: string): ClusterPaths => ({
  data: join(home, 'data'),
  log: join(home, 'server.log'),
  port: join(home, 'port'),
  password: join(home, 'password'),
  madeFor: join(home, 'made-for'),
});
