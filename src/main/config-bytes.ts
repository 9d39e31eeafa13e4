/** The longest config file, in bytes. 10,000 tasks fit. */
export const MAX_CONFIG_BYTES = 1024 * 1024;
