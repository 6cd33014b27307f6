/** An operator's tools for `STET_TOOLS`. */
export const tools = {
  'latitude/search': {
    description: 'Searches.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    execute: async ({ query }, { toolCallId, conversationUuid, workspaceId, projectId }) => ({
      found: [`about ${query}`],
      toolCallId,
      conversationUuid,
      workspaceId,
      projectId,
    }),
  },
  'latitude/fail': {
    execute() {
      throw new Error('The index is away')
    },
  },
  count: {
    calls: 0,
    execute() {
      this.calls += 1
      return this.calls
    },
  },
  odd: { execute: async () => 10n },
  large: { execute: () => 'x'.repeat(300_000) },
  hang: {
    execute: (_args, { signal }) =>
      new Promise((resolve) => {
        globalThis.stetTestStarted = (globalThis.stetTestStarted ?? 0) + 1
        signal.addEventListener('abort', () => {
          globalThis.stetTestAborted = (globalThis.stetTestAborted ?? 0) + 1
          resolve('too late')
        })
      }),
  },
}
