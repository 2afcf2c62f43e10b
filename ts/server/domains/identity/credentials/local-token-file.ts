/** Name of the file in data_dir that holds the token of the machine's administrator; `svc` reads it. */
export const LOCAL_TOKEN_FILE = 'local-admin.token';
