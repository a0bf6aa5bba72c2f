// What a statement may do: status and pages must work while the server is read-only, as a standby or during a failover.

/** SQL condition: this transaction may write. */
export const IS_WRITABLE = "current_setting('transaction_read_only') = 'off'";
