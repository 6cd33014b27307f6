import { type CompileIssue, NotFoundError } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { stet } from '../../app/session.ts'
import type { PromptChange } from '../../editor/diff/changed-prompts.ts'
import { foundIn, isError } from '../../editor/frame/use-issues.ts'
import { Notice } from '../../ui/states.tsx'
import { counted, countText } from '../../ui/time.tsx'
import css from './page.module.css'

/** A prompt that stops a publication. An error of a prompt that it includes names that prompt's path. */
export interface BrokenPrompt {
  path: string
  errors: readonly (Pick<CompileIssue, 'message' | 'line' | 'column'> & { path?: string })[]
}

interface Checks {
  done: number
  total: number
  broken: readonly BrokenPrompt[]
  /** Why the rest is not checked. */
  error: unknown
}

interface CheckedDraft {
  projectId: number
  versionUuid: string
  changes: readonly PromptChange[]
}

/** Few enough to leave connections for everything else that the page loads. */
const checksAtOnce = 3
const nothingChecked: Checks = { done: 0, total: 0, broken: [], error: null }

interface ChecksProps extends CheckedDraft {
  /** Shown in the place of the results, for example the server's own refusal. */
  refusal: ReactNode
}

/** Compiles what a draft would publish, and lists the prompts with errors before the server refuses them. */
export function PublishChecks({ projectId, versionUuid, changes, refusal }: ChecksProps) {
  const [checks, setChecks] = useState(nothingChecked)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt checks again
  useEffect(() => {
    const stop = new AbortController()
    void checkDraft({ projectId, versionUuid, changes }, stop.signal, setChecks)
    return () => stop.abort()
  }, [projectId, versionUuid, changes, attempt])
  if (refusal) return refusal
  const { done, total, broken, error } = checks
  return (
    <>
      {broken.length > 0 && (
        <Broken projectId={projectId} versionUuid={versionUuid} documents={broken}>
          <strong>The draft cannot be published.</strong> These prompts have errors.
        </Broken>
      )}
      {error ? (
        <Failure error={error} what="Not every prompt was checked" onRetry={() => setAttempt(attempt + 1)} />
      ) : done < total ? (
        <p className={css['faint']}>
          Checking the prompts: {countText(done)} of {countText(total)}
        </p>
      ) : (
        total > 0 &&
        broken.length === 0 && (
          <p className={css['faint']} role="status">{`${counted(total, 'prompt')} checked, no errors`}</p>
        )
      )}
    </>
  )
}

/**
 * Checks the changed prompts and those that include them, as the server does before it publishes. A prompt that the
 * server knows to be right is not checked again.
 */
async function checkDraft(draft: CheckedDraft, signal: AbortSignal, report: (checks: Checks) => void): Promise<void> {
  const { projectId, versionUuid, changes } = draft
  let checks: Checks = { ...nothingChecked, total: changes.length }
  const update = (next: Partial<Checks>) => {
    checks = { ...checks, ...next }
    if (!signal.aborted) report(checks)
  }
  update({})
  try {
    const { items } = await stet.versions.tree(versionUuid, { projectId, signal })
    const compiling = new Set(
      items.filter(({ compiles, isConfigured }) => compiles && isConfigured).map(({ path }) => path),
    )
    const paths = new Set(changes.map(({ path }) => path))
    const deleted = new Set(changes.filter(({ status }) => status === 'deleted').map(({ path }) => path))
    for (const { movedFrom } of changes) if (movedFrom && !paths.has(movedFrom.path)) deleted.add(movedFrom.path)
    const changed = [...new Set([...paths, ...deleted])]
    const waiting = changed.filter((path) => deleted.has(path) || !compiling.has(path))
    const seen = new Set([...changed, ...compiling])
    update({ done: changed.length - waiting.length, total: changed.length })
    const work = async () => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        // A deleted prompt has no errors, but those that include it do. Live still knows them.
        const isDeleted = deleted.has(path)
        const found = await checkPrompt(path, { projectId, versionUuid: isDeleted ? 'live' : versionUuid, signal })
        const more = found.referencedBy.map((from) => from.path).filter((from) => !seen.has(from))
        for (const from of more) seen.add(from)
        waiting.push(...more)
        const errors = foundIn(found).filter(isError)
        const isBroken = !isDeleted && errors.length > 0
        update({
          done: checks.done + 1,
          total: checks.total + more.length,
          ...(isBroken && { broken: [...checks.broken, { path, errors }] }),
        })
      }
    }
    await Promise.all(Array.from({ length: checksAtOnce }, work))
  } catch (error) {
    update({ error })
  }
}

type Found = Pick<Awaited<ReturnType<typeof stet.prompts.check>>, 'errors' | 'issues' | 'referencedBy'>

/** A prompt that somebody deletes meanwhile has nothing to check. */
function checkPrompt(path: string, options: { projectId: number; versionUuid: string; signal: AbortSignal }) {
  return stet.prompts.check(path, options).catch((error: unknown): Found => {
    if (error instanceof NotFoundError) return { errors: [], issues: [], referencedBy: [] }
    throw error
  })
}

interface BrokenProps {
  projectId: number
  versionUuid: string
  documents: readonly BrokenPrompt[]
  /** What follows from the errors. */
  children: ReactNode
}

/** Prompts with their errors, each with a link to its line. */
export function Broken({ projectId, versionUuid, documents, children }: BrokenProps) {
  return (
    <>
      <Notice tone="red" urgent>
        {children}
      </Notice>
      <ul className={css['documents']}>
        {documents.map(({ path, errors }) => (
          <li key={path} className={css['document']}>
            <span className={css['path']}>{path}</span>
            {errors.map(({ message, line, column, path: of = path }) => (
              <Link
                key={`${of}:${line}:${column}:${message}`}
                to="/p/$project/v/$version/prompts/$"
                params={{ project: String(projectId), version: versionUuid, _splat: of }}
                search={{ line }}
              >
                {of !== path && `${of}, `}Line {line}: {message}
              </Link>
            ))}
          </li>
        ))}
      </ul>
    </>
  )
}
