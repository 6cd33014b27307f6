import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { draftForEdit } from '../../app/frame/switches/draft-for-edit.ts'
import { queryClient, stet } from '../../app/session.ts'
import { Button, join } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import type { Opened } from '../open-prompt.ts'
import css from './panes.module.css'
import { checkQuery } from './queries.ts'

/** The prompts that this one inserts, and those that insert it. */
export function ReferencesPane({ open }: { open: Opened }) {
  const { place, document } = open
  const check = useQuery(checkQuery({ ...place, contentHash: document.contentHash }))
  if (check.error)
    return <Failure error={check.error} what="The references could not be read" onRetry={check.refetch} />
  if (!check.data) return <Skeleton />
  const { references, referencedBy } = check.data
  return (
    <div className={join(layout['apart'], css['pane'])}>
      <h2 className={css['heading']}>This prompt uses</h2>
      {references.length === 0 && (
        <p className={layout['faint']}>
          No other prompt. <code>{'<prompt path="…" />'}</code> inserts one.
        </p>
      )}
      <Paths paths={references.map(({ path }) => path)}>
        {(path, at) =>
          references[at]?.documentUuid ? <PromptLink {...{ open, path }} /> : <Missing {...{ open, path }} />
        }
      </Paths>
      <h2 className={css['heading']}>Used by</h2>
      {referencedBy.length === 0 && <p className={layout['faint']}>No other prompt of this version.</p>}
      <Paths paths={referencedBy.map(({ path }) => path)}>{(path) => <PromptLink open={open} path={path} />}</Paths>
    </div>
  )
}

function Paths({ paths, children }: { paths: readonly string[]; children: (path: string, at: number) => ReactNode }) {
  if (paths.length === 0) return null
  return (
    <ul className={css['list']}>
      {paths.map((path, at) => (
        <li key={path} className={join(css['item'], layout['row'])}>
          {children(path, at)}
        </li>
      ))}
    </ul>
  )
}

/** The pane stays open, so that one can follow references. An example belongs to one prompt. */
function PromptLink({ open: { place }, path }: { open: Opened; path: string }) {
  const to = toPrompt(place.projectId, place.versionUuid, path)
  return (
    <Link from={to.to} {...to} search={({ tab }) => (tab ? { tab } : {})} className={css['link']}>
      {path}
    </Link>
  )
}

/** A reference without a prompt. Creating it on live goes into a draft, as typing does. */
function Missing({ open: { place, status, readOnly }, path }: { open: Opened; path: string }) {
  const navigate = useNavigate({ from: '/p/$project/v/$version/prompts/$' })
  const create = useMutation({
    mutationFn: async () => {
      const { projectId } = place
      const versionUuid = status.kind === 'live' ? (await draftForEdit(stet, projectId)).uuid : place.versionUuid
      await stet.prompts.create(path, { projectId, versionUuid, prompt: '' })
      await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
      await navigate({ ...toPrompt(projectId, versionUuid, path), search: ({ tab }) => (tab ? { tab } : {}) })
    },
  })
  return (
    <>
      <span className={css['missing']}>{path}</span>
      <span className={layout['faint']}>missing</span>
      <span className={css['end']}>
        <Button look="quiet" busy={create.isPending} blocked={readOnly} onClick={() => create.mutate()}>
          Create
        </Button>
      </span>
      {create.error && <Failure error={create.error} what="The prompt was not created" />}
    </>
  )
}
