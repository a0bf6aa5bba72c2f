// Lets Chai make assertions without proxies, which take most of the time of a simple one and only detect misspelled names, as the
// compiler does.
import { chai } from 'vitest';

chai.config.useProxy = false;
