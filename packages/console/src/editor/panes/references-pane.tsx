import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { noticeSignedOut, queryClient, stet } from '../../app/session.ts'
import { Button, join } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { draftForEdit } from '../draft-for-edit.ts'
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
    <div className={css['pane']}>
      <h2 className={css['heading']}>This prompt uses</h2>
      {references.length === 0 ? (
        <p className={css['quiet']}>
          No other prompt. <code>{'<prompt path="…" />'}</code> inserts one.
        </p>
      ) : (
        <ul className={css['list']}>
          {references.map(({ path, documentUuid }) => (
            <li key={path} className={join(css['item'], css['row'])}>
              {documentUuid ? <PromptLink open={open} path={path} /> : <Missing open={open} path={path} />}
            </li>
          ))}
        </ul>
      )}
      <h2 className={css['heading']}>Used by</h2>
      {referencedBy.length === 0 ? (
        <p className={css['quiet']}>No other prompt of this version.</p>
      ) : (
        <ul className={css['list']}>
          {referencedBy.map(({ path }) => (
            <li key={path} className={join(css['item'], css['row'])}>
              <PromptLink open={open} path={path} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const address = '/p/$project/v/$version/prompts/$'

/** The pane stays open, so that one can follow references. An example belongs to one prompt. */
function PromptLink({ open: { place }, path }: { open: Opened; path: string }) {
  const params = { project: String(place.projectId), version: place.versionUuid, _splat: path }
  return (
    <Link
      from={address}
      to={address}
      params={params}
      search={({ tab }) => (tab ? { tab } : {})}
      className={css['link']}
    >
      {path}
    </Link>
  )
}

/** A reference without a prompt. Creating it on live goes into a draft, as typing does. */
function Missing({ open: { place, status, readOnly }, path }: { open: Opened; path: string }) {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: null })
  const navigate = useNavigate({ from: address })
  const create = async () => {
    setState({ isBusy: true, error: null })
    try {
      const { projectId } = place
      const versionUuid = status.kind === 'live' ? (await draftForEdit(stet, projectId)).uuid : place.versionUuid
      await stet.prompts.create(path, { projectId, versionUuid, prompt: '' })
      await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
      const params = { project: String(projectId), version: versionUuid, _splat: path }
      await navigate({ to: address, params, search: ({ tab }) => (tab ? { tab } : {}) })
    } catch (error) {
      noticeSignedOut(error)
      setState({ isBusy: false, error })
    }
  }
  return (
    <>
      <span className={css['missing']}>{path}</span>
      <span className={css['quiet']}>missing</span>
      <span className={css['end']}>
        <Button look="quiet" busy={state.isBusy} blocked={readOnly} onClick={() => void create()}>
          Create
        </Button>
      </span>
      {state.error !== null && <Failure error={state.error} what="The prompt was not created" />}
    </>
  )
}
