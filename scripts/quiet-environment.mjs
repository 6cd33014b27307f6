/** The environment for build tools: no telemetry, no request for newer versions, no banner. */
export function quietEnvironment(environment) {
  return {
    ...environment,
    DO_NOT_TRACK: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
}
