/** Fixed request limits. `…Length` counts code points, `…Bytes` counts UTF-8 bytes. */
export const LIMITS = {
  nameLength: 256,
  descriptionLength: 16_384,
  evaluations: 1_000,
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
 * The limits of examples. `bytes` counts the values of one example together, as JSON in UTF-8. `bytesPerPrompt` counts
 * those of all examples of a prompt. `changes` and `runs` limit one request; `tags` and `toolResults`, which is per tool,
 * limit one example.
 */
export const EXAMPLE_LIMITS = {
  bytes: 262_144,
  perPrompt: 1_000,
  bytesPerPrompt: 16_777_216,
  changes: 200,
  runs: 100,
  tags: 20,
  toolResults: 100,
} as const

/** The limits of checks. A list of checks belongs to a row or to an evaluation. */
export const CHECK_LIMITS = {
  checks: 10,
  patternBytes: 1_024,
  schemaBytes: 65_536,
  texts: 20,
  textLength: 4_096,
  fieldLength: 512,
} as const

/** The limits of a project's gates. */
export const GATE_LIMITS = { gates: 20, evaluations: 10, rows: 1_000, costRatio: 100, pathLength: 1_000 } as const

/** The limits of experiments. `scores` is per request; `answerBytes` is what a list shows of an answer. */
export const EXPERIMENT_LIMITS = {
  arms: 4,
  rows: 1_000,
  trials: { byDefault: 1, most: 5 },
  concurrency: { byDefault: 4, most: 16 },
  maxRuns: { byDefault: 500, most: 20_000 },
  budgetUsd: 2,
  running: 20,
  evaluations: 50,
  scores: 500,
  answerBytes: 4_096,
  textBytes: 16_777_216,
} as const
