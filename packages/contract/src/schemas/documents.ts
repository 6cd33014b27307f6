import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  baseText,
  ContentHash,
  DocumentParams,
  DocumentPath,
  expectedHashes,
  Id,
  JsonObject,
  nullsAbsent,
  orRaw,
  Person,
  PromptText,
  RevisionDocumentParams,
  RevisionParams,
  requireBaseHash,
  Timestamp,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { flag, pageSize } from '../query-values.ts'
import { BrokenReferences } from './changes.ts'
import { MergeDocumentsBody, MergedDocument } from './merges.ts'
import { Message } from './messages.ts'
import { ProviderKind } from './provider-api-keys.ts'

const c = initContract()

const issueShape = {
  code: z.string(),
  message: z.string(),
  line: z.int(),
  column: z.int(),
  endLine: z
    .int()
    .exactOptional()
    .meta({ description: 'The position after the error. Absent if only its start is known.' }),
  endColumn: z.int().exactOptional(),
  frame: z.string().meta({ description: 'The lines around the error, with a marker below it.' }),
}

export const CompileIssue = z
  .object({
    ...issueShape,
    path: z
      .string()
      .exactOptional()
      .meta({ description: 'A referenced prompt with the error; absent for the prompt itself.' }),
  })
  .meta({
    id: 'CompileIssue',
    description: 'One reason why a prompt does not compile. Lines and columns start at 1.',
    example:
      "{ code: 'unexpected-eof', message: 'Unexpected end of file', line: 3, column: 1, frame: '3: {{ name\\n   ^' }",
  })

export const LocatedIssue = z
  .object({
    ...issueShape,
    path: z.string().meta({ description: 'The prompt with the error, possibly a referenced one.' }),
  })
  .meta({ id: 'LocatedIssue', description: 'A compile issue with its prompt. `path` may name a referenced prompt.' })

export const PromptIssue = z
  .object({
    severity: z.enum(['error', 'warning']).meta({ description: 'A run refuses a prompt with an error.' }),
    ...issueShape,
  })
  .meta({
    id: 'PromptIssue',
    description:
      'An issue that a check finds in a prompt that compiles. A run refuses a prompt with an error. A warning refuses nothing.',
    example:
      "{ severity: 'error', code: 'invalid-setting', message: '`temperature` must be a number', line: 2, column: 1, frame: '2 | temperature: hot\\n  | ^' }",
  })

const issues = z
  .array(PromptIssue)
  .max(20)
  .meta({ description: 'Settings that a run refuses, and warnings, errors first. `errors` has what does not compile.' })

export const ParameterType = z.enum(['text', 'image', 'file'])

export const DocumentParameter = z.looseObject({ type: ParameterType, required: z.boolean().exactOptional() }).meta({
  id: 'DocumentParameter',
  description:
    'A parameter with the keys of its declaration. Declared numbers, booleans, objects and arrays have the type `text`, because legacy clients accept only `text`, `image` and `file`. `config.parameters` keeps the declared type.',
  example: "{ type: 'text', required: true, description: \"The customer's name\" }",
})

export const Document = z
  .object({
    id: Id.meta({ description: 'The id of this prompt in the version that last changed it.' }),
    documentUuid: Uuid.meta({ description: 'The same in all versions.' }),
    uuid: Uuid.meta({ description: 'The same as `documentUuid`.' }),
    path: z.string(),
    content: z.string().meta({ description: 'The prompt, exactly as stored.' }),
    resolvedContent: z.string().meta({ description: 'The content without comments and with references inlined.' }),
    contentHash: ContentHash.meta({ description: 'SHA-256 of `content`: the first 64 digits of the ETag.' }),
    commitId: Id.meta({ description: 'The id of the version that last changed the text.' }),
    versionUuid: Uuid.meta({ description: 'The uuid of the requested version, also for `live`.' }),
    projectId: Id,
    config: JsonObject.meta({ description: 'The parsed front matter; `{}` if it is missing or invalid.' }),
    parameters: z.record(z.string(), DocumentParameter).meta({
      description: 'The declared parameters and every free variable, including those of referenced prompts.',
    }),
    provider: ProviderKind.exactOptional().meta({ description: 'Absent if no configured provider key matches.' }),
    errors: z.array(CompileIssue).max(20).meta({ description: 'Why the prompt does not compile; empty if it does.' }),
    issues,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    mergedAt: Timestamp.nullable(),
    deletedAt: Timestamp.nullable(),
    updatedBy: Person.nullable().meta({
      description: 'The author of the last change. Null if that author was deleted.',
    }),
    movedFrom: z.string().exactOptional().meta({
      description: 'Only in a draft that moves the prompt: its path in live.',
    }),
    merged: z.literal(true).exactOptional().meta({
      description:
        'Only after a write with `merge`: the text was merged with a newer one, and `content` is the result.',
    }),
  })
  .meta({ id: 'Document', example: 'const compiles = document.errors.length === 0' })

export const ListedDocument = Document.extend({
  resolvedContent: Document.shape.resolvedContent.exactOptional().meta({
    description: 'The content without comments and with references inlined. Absent with `resolved=false`.',
  }),
}).meta({
  id: 'ListedDocument',
  description: 'A prompt of a list. `resolvedContent` is absent if the query has `resolved: false`.',
})

export const ListDocumentsQuery = z
  .object({
    prefix: z.string().exactOptional().meta({ description: 'The start of the path.' }),
    resolved: flag
      .exactOptional()
      .meta({ description: 'With `false`, `resolvedContent` is left out. Default: `true`.' }),
    limit: pageSize.exactOptional().meta({ description: 'Default: all. A page with fewer prompts is the last one.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `path` of the last prompt of the previous page.' }),
  })
  .meta({ example: "{ prefix: 'support/', resolved: false, limit: 100, cursor: 'support/reply' }" })

export const CreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'CreateDocumentBody',
  example: "{ path: 'support/reply', prompt: 'Hello {{ name }}' }",
})

export const GetOrCreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'GetOrCreateDocumentBody',
  example: "{ path: 'support/reply' }",
})

export const CreateOrUpdateDocumentBody = nullsAbsent(
  z
    .object({
      path: DocumentPath,
      prompt: PromptText,
      force: z.boolean().default(false).meta({
        description: 'Allows changes to a merged version. This also requires the key scope `publish`.',
      }),
      ...expectedHashes,
      ...baseText,
      merge: z
        .boolean()
        .default(false)
        .meta({
          description:
            'In a draft: if the prompt has changed since `baseHash`, merges the two texts by line instead of refusing the ' +
            'write. 409 only if the changes overlap. Requires `baseHash`.',
        }),
    })
    .superRefine((body, context) => {
      if (body.merge) requireBaseHash(context, body)
    }),
).meta({
  id: 'CreateOrUpdateDocumentBody',
  example: "{ path: 'support/reply', prompt: 'Hello {{ name }}', baseHash: '' } // only if it does not exist yet",
})

export const MoveDocumentBody = absent({
  from: DocumentPath,
  to: DocumentPath.meta({ description: 'The new path. The draft must have no prompt there.' }),
  baseHash: z
    .string()
    .exactOptional()
    .meta({ description: 'The `contentHash` of the prompt that you expect at `from`.' }),
}).meta({ id: 'MoveDocumentBody', example: "{ from: 'support/reply', to: 'support/answer' }" })

export const MovedDocument = Document.extend({ brokenReferences: BrokenReferences }).meta({
  id: 'MovedDocument',
  description: 'A prompt at its new path.',
})

export const DeletedDocument = z.object({ documentUuid: Uuid, path: z.string() }).meta({ id: 'DeletedDocument' })

export const CheckDocumentBody = absent({
  path: DocumentPath,
  prompt: PromptText.exactOptional().meta({
    description: 'A text that is checked instead of the stored one. This also requires the key scope `write`.',
  }),
  parameters: JsonObject.exactOptional().meta({ description: 'Values of the parameters by name, for `messages`.' }),
}).meta({
  id: 'CheckDocumentBody',
  description: 'The prompt to check. Without `prompt`, the stored text is checked.',
  example: "{ path: 'support/reply', prompt: 'Hello {{ name }}', parameters: { name: 'Ada' } }",
})

export const DocumentCheck = z
  .object({
    contentHash: ContentHash.meta({ description: 'The hash of the checked text.' }),
    errors: z
      .array(LocatedIssue)
      .max(20)
      .meta({ description: 'Empty if the prompt compiles and its first step renders.' }),
    issues,
    config: JsonObject,
    parameters: z.record(z.string(), DocumentParameter),
    provider: ProviderKind.exactOptional().meta({ description: 'Absent if no configured provider key matches.' }),
    references: z.array(z.object({ path: z.string(), documentUuid: Uuid.nullable() })).meta({
      description: 'The prompts that the text refers to. `documentUuid` is null for a missing prompt.',
    }),
    referencedBy: z
      .array(z.object({ path: z.string(), documentUuid: Uuid }))
      .meta({ description: 'The prompts of the version that refer to this path.' }),
    messages: z.array(Message).nullable().meta({
      description: 'The first step as the model would receive it. Null without `parameters`, or with errors.',
    }),
  })
  .meta({ id: 'DocumentCheck', example: 'const compiles = check.errors.length === 0' })

export const documentRoutes = {
  list: {
    summary: 'List prompts',
    description:
      'Returns all prompts of the version, ordered by path. 413 if they exceed 64 MB: leave out the resolved texts with ' +
      '`resolved=false`, or read pages with `limit` and `cursor`.',
    pathParams: RevisionParams,
    query: ListDocumentsQuery,
    responses: withErrors({ 200: orRaw(z.array(ListedDocument)) }),
  },
  create: {
    summary: 'Create a prompt',
    description: 'Creates a prompt in a draft. 409 if the path has one.',
    pathParams: VersionParams,
    body: CreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  get: {
    summary: 'Get a prompt',
    description: 'Also returns a prompt that does not compile, with its `errors`.',
    pathParams: RevisionDocumentParams,
    responses: withErrors({ 200: orRaw(Document), 304: c.noBody() }),
  },
  getOrCreate: {
    summary: 'Get a prompt or create it',
    description: 'Returns an existing prompt unchanged. A missing one is created, in a draft only.',
    pathParams: VersionParams,
    body: GetOrCreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  createOrUpdate: {
    summary: 'Create a prompt or replace its text',
    description:
      'A draft may contain a text that does not compile. A merged version needs `force`. Writing the same text again ' +
      'changes nothing. With `merge`, changes of other lines are merged.',
    pathParams: VersionParams,
    body: CreateOrUpdateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  delete: {
    summary: 'Delete a prompt',
    description: 'Deletes it in the draft. Live keeps it until the draft is published. A revert restores it.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: DeletedDocument }),
  },
  move: {
    summary: 'Move a prompt',
    description:
      'Moves a prompt to another path of the draft. It keeps its `documentUuid`, and with it its examples, evaluations ' +
      'and conversations. References to the old path are not rewritten: `brokenReferences` lists them. 409 if there is a ' +
      'prompt at the new path.',
    pathParams: VersionParams,
    body: MoveDocumentBody,
    responses: withErrors({ 200: orRaw(MovedDocument) }),
  },
  check: {
    summary: 'Check a prompt',
    description:
      'Compiles the stored prompt, or the text in `prompt`, with the references of the version. Stores nothing. With ' +
      '`parameters`, also renders the messages of the first step. 422 if parameters are missing or invalid.',
    pathParams: VersionParams,
    body: CheckDocumentBody,
    responses: withErrors({ 200: DocumentCheck }),
  },
  merge: {
    summary: 'Merge texts with those of a version',
    description:
      'Merges each text by line with the text of the version at its path. Stores nothing. The changes of both sides are ' +
      'in the result; where they overlap, it has conflict markers.',
    pathParams: VersionParams,
    body: MergeDocumentsBody,
    responses: withErrors({ 200: z.array(MergedDocument) }),
  },
} as const
