/** pnpm passes its own settings to scripts as `npm_config_*`. npm warns about each one that it does not know. */
const settingOfPnpm = /^npm_config_(_?jsr|globalconfig$|npm_globalconfig|verify_deps_before_run|@)|^pnpm_config_/i

/** The environment for npm and npx, with the registry, cache and proxies that the caller configured. */
export function npmEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !settingOfPnpm.test(name)))
}
