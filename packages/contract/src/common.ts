import { z } from 'zod'
import { LIMITS } from './vocabulary/limits.ts'

export const KeyScope = z.enum(['read', 'run', 'write', 'publish', 'admin']).meta({
  description: 'The key scopes. `admin` includes the other four key scopes, which do not include one another.',
})

/**
 * A body that writes the response itself: an event stream or ready JSON bytes. The server does not validate raw
 * responses. Every readable Node stream has this type.
 */
export interface RawResponse {
  pipe(destination: never, ...rest: never[]): unknown
}

/**
 * Lets a handler return a {@link RawResponse} where the contract declares a schema. The schema's output type does not
 * change.
 */
export function orRaw<S extends z.ZodType>(schema: S): z.ZodType<z.output<S>, z.input<S> | RawResponse> {
  // The server detects a raw response before validation, so the schema never receives one.
  return schema as z.ZodType<z.output<S>, z.input<S> | RawResponse>
}

/**
 * Defines a request object. Drops nulls and unknown keys.
 *
 * @example
 * const Body = absent({ name: z.string(), title: z.string().exactOptional() })
 * Body.parse({ name: 'a', title: null, more: 1 }) // { name: 'a' }
 */
export function absent<S extends z.core.$ZodLooseShape>(shape: S) {
  return nullsAbsent(z.object(shape))
}

/** Like {@link absent}, for an existing schema, for example one with a check across several keys. */
export function nullsAbsent<S extends z.ZodType>(schema: S) {
  return z.preprocess<unknown, S, z.input<S>>((value) => withoutNulls(value), schema)
}

/** Like {@link absent}, but keeps nulls for the keys in `nullable`. */
export function absentBut<S extends z.core.$ZodLooseShape>(nullable: readonly (keyof S & string)[], shape: S) {
  const schema = z.object(shape)
  return z.preprocess<unknown, typeof schema, z.input<typeof schema>>((value) => withoutNulls(value, nullable), schema)
}

function withoutNulls(value: unknown, nullable: readonly string[] = []): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key, entry]) => entry !== null || nullable.includes(key)))
}

/** Limits a string to at least `min` and at most `max` characters. `max` counts code points, as in JSON Schema. */
export function text(range: { min?: number; max: number }) {
  const bounds = { maxLength: range.max, ...(range.min === undefined ? {} : { minLength: range.min }) }
  return z
    .string()
    .refine((value) => value.length >= (range.min ?? 0), { error: `must have at least ${counted(range.min ?? 0)}` })
    .refine((value) => isWithin(value, range.max), { error: `must have at most ${counted(range.max)}` })
    .meta(bounds)
}

function counted(characters: number): string {
  return `${characters} character${characters === 1 ? '' : 's'}`
}

// A code point has at most two code units. Very long text is therefore refused without splitting it into code points.
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && [...value].length <= max)
}

export function utf8Bytes(value: string): number {
  return new TextEncoder().encode(value).length
}

/** One line of text, without control characters, for lists and terminals. */
export function nameText(range: { min?: number; max: number }) {
  return text(range)
    .refine((value) => !/\p{Cc}/u.test(value), { error: 'must not contain control characters' })
    .meta({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })
}

export const Name = nameText({ min: 1, max: LIMITS.nameLength })

export const Id = z.int32().positive()

/** Requests may use upper case. Responses use lower case. */
export const Uuid = z.guid().meta({ format: 'uuid', pattern: undefined })

/** UTC with milliseconds: `2026-01-02T03:04:05.678Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ pattern: undefined })

/** At most 256 KiB of UTF-8. The server stores the text exactly as sent. */
export const PromptText = z
  .string()
  .refine((value) => value.length * 3 <= LIMITS.promptBytes || utf8Bytes(value) <= LIMITS.promptBytes, {
    error: `must have at most ${LIMITS.promptBytes} bytes in UTF-8`,
  })

/** SHA-256 in lower-case hex. */
export const ContentHash = z.string().regex(/^[0-9a-f]{64}$/)

/** Hashes of the texts that a write is based on. The server responds with 409 if such a text has changed. */
export const expectedHashes = {
  baseHash: z.string().exactOptional().meta({
    description: 'The `contentHash` that the change is based on; `""` if you expect no prompt at the path.',
  }),
  liveHash: z
    .string()
    .exactOptional()
    .meta({
      description:
        'In a draft: the `contentHash` of the live text that is merged into this change; `""` if live has no such ' +
        'prompt. It becomes the base of the change, so publishing finds no conflict.',
    }),
}

/** The text that a merge starts from. */
export const baseText = {
  base: PromptText.exactOptional().meta({
    description:
      'With `merge`: the text that has the hash `baseHash`. Default: the text with this hash that the project has stored ' +
      'at the path.',
  }),
}

/** Without the hash, a merge has no base, and a replacement would keep a base that its author has never seen. */
export function requireBaseHash(
  context: z.core.$RefinementCtx,
  { baseHash }: { baseHash?: string },
  option: 'merge' | 'replace' = 'merge',
  path: PropertyKey[] = [],
): void {
  if (baseHash !== undefined) return
  context.addIssue({ code: 'custom', path: [...path, 'baseHash'], message: `is required with \`${option}\`` })
}

/** Options of every request that makes an environment serve another version. */
export const moveOptions = {
  reason: text({ max: LIMITS.reasonLength }).exactOptional().meta({ description: 'Kept in the release.' }),
  expectedVersionUuid: Uuid.exactOptional().meta({
    description: 'The version that you expect the environment to serve. 409 if it serves another one.',
  }),
}

export const Person = z
  .object({ id: Id, name: z.string(), email: z.string().meta({ description: '`""` if unknown.' }) })
  .meta({
    id: 'Person',
    description: 'The person or program that an API key acts for.',
    example: "{ id: 1, name: 'Ada', email: 'ada@example.com' }",
  })

export const JsonObject = z.record(z.string(), z.unknown())

/** A prompt's path: `folder/name`. The server ignores leading slashes and one trailing slash. */
export const DocumentPath = z.string()

const projectId = z.string().meta({ description: 'The id of the project, a positive integer.' })
const versionUuid = z.string().meta({ description: 'The uuid of a version, or `live` for the published one.' })
const revision = z.string().meta({
  description:
    'The uuid of a version, `<uuid>@<revision>` for an earlier state of it, or `live` for the published one.',
})
const path = z.string().meta({
  description: 'The path of the prompt. Send slashes as they are or as `%2F`.',
})

/** Path parameters are plain strings. A malformed id counts as an unknown id, so the response is 404 instead of 400. */
export const ProjectParams = z.object({ projectId })
export const VersionParams = z.object({ projectId, versionUuid })
export const DocumentParams = z.object({ projectId, versionUuid, path })
/** For routes that read: a version as it was before forced edits. */
export const RevisionParams = VersionParams.extend({ versionUuid: revision })
export const RevisionDocumentParams = DocumentParams.extend({ versionUuid: revision })
export const ConversationParams = z.object({
  conversationUuid: z.string().meta({ description: 'The uuid of the conversation.' }),
})
export const IdParams = z.object({ id: z.string().meta({ description: 'The id of the key, a positive integer.' }) })
