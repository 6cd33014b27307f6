/** Fixed request limits. `…Length` counts code points, `…Bytes` counts UTF-8 bytes. */
export const LIMITS = {
  nameLength: 256,
  descriptionLength: 16_384,
  reasonLength: 1_000,
  customIdentifierLength: 256,
  promptBytes: 262_144,
  toolPayloadBytes: 262_144,
  messages: 1_000,
  toolNames: 128,
  toolNameLength: 128,
  changes: 1_000,
  /** Each takes several statements in one transaction. */
  importedRevisions: 100,
  merges: 20,
  rateLimit: 100_000,
  metadataBytes: 16_384,
  /** Bounds the absolute value of ratings. Sums of numbers near the largest double would overflow. */
  rating: 1_000_000_000,
  overlapSeconds: 604_800,
  pageSize: 100,
  leastLinkSeconds: 30,
  mostLinkSeconds: 604_800,
  retentionDays: 3_650,
  tagLength: 64,
  /** Of a conversation. A run request has fewer, because they are inserted with the run. */
  tags: 20,
  runTags: 10,
  listedTags: 200,
  noteBytes: 16_384,
  commentBytes: 4_096,
  /** Items with content are large. */
  contentPageSize: 20,
} as const

/**
 * The limits of examples. `bytes` counts the parameters and messages of one example together, as JSON in UTF-8.
 * `bytesPerPrompt` counts those of all examples of a prompt, which a list returns at once.
 */
export const EXAMPLE_LIMITS = { bytes: 262_144, perPrompt: 200, bytesPerPrompt: 4_194_304 } as const
