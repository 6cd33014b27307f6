import { z } from 'zod'
import { absent, ContentHash, DocumentPath, nullsAbsent, PromptText, Uuid } from '../common.ts'
import { LIMITS } from '../vocabulary/limits.ts'

export const MergeRegion = z
  .object({
    line: z.int().positive().meta({ description: 'The line of the first marker. Lines start at 1.' }),
    lines: z.int().nonnegative().meta({ description: 'The number of lines, markers included.' }),
  })
  .meta({ id: 'MergeRegion', description: 'A conflict in a merged text.' })

export const MergeDocumentsBody = absent({
  items: z
    .array(
      nullsAbsent(
        z.object({
          path: DocumentPath,
          prompt: PromptText.meta({ description: 'Your text.' }),
          baseHash: z.string().meta({
            description: 'The `contentHash` of the text that yours is based on; `""` if there was none.',
          }),
          base: PromptText.exactOptional().meta({
            description:
              'The text that has the hash `baseHash`. Default: the text with this hash that the project has stored at the ' +
              'path.',
          }),
        }),
      ),
    )
    .min(1)
    .max(LIMITS.merges),
}).meta({
  id: 'MergeDocumentsBody',
  example: "{ items: [{ path: 'support/reply', prompt: 'Hello {{ name }}', baseHash: contentHash }] }",
})

export const MergedDocument = z
  .object({
    path: z.string(),
    content: z.string().meta({
      description: "The merged text. Contains git's conflict markers at each place in `conflicts`.",
    }),
    contentHash: ContentHash.meta({ description: 'The hash of `content`.' }),
    theirsHash: ContentHash.nullable().meta({
      description: "The hash of the version's text; the `baseHash` of the next write. Null if there is none.",
    }),
    conflicts: z.array(MergeRegion).meta({
      description:
        'Empty if the merge is clean. If the version no longer has the prompt, the whole text is one conflict without ' +
        'markers.',
    }),
    baseUnknown: z.literal(true).exactOptional().meta({
      description: 'The text with `baseHash` was not found, so every difference is a conflict.',
    }),
  })
  .meta({ id: 'MergedDocument', example: 'const isClean = merged.conflicts.length === 0' })

export const LiveConflict = z
  .object({
    path: z.string(),
    documentUuid: Uuid,
    baseHash: ContentHash.nullable().meta({
      description: 'The live text that the change of the draft is based on. Null if there was none.',
    }),
    liveHash: ContentHash.nullable().meta({ description: 'Null if live has deleted the prompt.' }),
    draftHash: ContentHash.nullable().meta({
      description: 'The text of the draft, at `movedTo` if the draft moves the prompt. Null if it deletes the prompt.',
    }),
    movedTo: z
      .string()
      .exactOptional()
      .meta({
        description:
          'The path to which the draft moves the prompt. To resolve the conflict, send the move again, with the merged ' +
          'text and `liveHash`.',
      }),
    merged: z
      .string()
      .nullable()
      .meta({
        description:
          'Both texts with conflict markers. Null over 64 KB, after 4 MB of such texts in one response, or if one side deleted ' +
          'the prompt.',
      }),
    regions: z.array(MergeRegion).meta({ description: 'The conflicts in `merged`.' }),
    baseUnknown: z.literal(true).exactOptional().meta({
      description: 'The text with `baseHash` is no longer stored, so every difference is a conflict.',
    }),
    skipped: z.literal(true).exactOptional().meta({
      description: 'Not merged, because one call writes at most 5 MB of merged text. Call `update` again.',
    }),
  })
  .meta({ id: 'LiveConflict', description: 'A prompt that the draft and live have changed in the same lines.' })

export const UpdateResult = z
  .object({
    versionUuid: Uuid,
    updated: z
      .array(z.object({ path: z.string(), contentHash: ContentHash }))
      .meta({ description: "The prompts whose text in the draft now contains live's changes." }),
    conflicts: z.array(LiveConflict).meta({ description: 'The prompts that were not changed.' }),
  })
  .meta({ id: 'UpdateResult' })

export const UpdateFromEnvironmentBody = absent({
  paths: z
    .array(DocumentPath)
    .min(1)
    .max(LIMITS.changes)
    .exactOptional()
    .meta({ description: 'The prompts to merge. Default: all that live has changed.' }),
}).meta({ id: 'UpdateFromEnvironmentBody' })
