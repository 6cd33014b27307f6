-- CreateTable
CREATE TABLE "workspace" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "author" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,

    CONSTRAINT "author_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "author_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "scopes" TEXT[],
    "project_id" INTEGER,
    "plan" TEXT NOT NULL,
    "custom_limit" INTEGER,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "uuid" UUID NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_link" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "code_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "default_provider" TEXT,
    "default_model" TEXT,
    "retention_days" INTEGER,
    "keep_parameters" BOOLEAN,
    "gates" JSON,
    "live_version_id" INTEGER,
    "last_edited_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "version" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "author_id" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "number" INTEGER,
    "parent_version_uuid" UUID,
    "merged_at" TIMESTAMPTZ(3),
    "published_by" INTEGER,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "base_version_id" INTEGER,
    "base_revision" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "document" (
    "id" SERIAL NOT NULL,
    "document_uuid" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "version_id" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "refers" BOOLEAN NOT NULL GENERATED ALWAYS AS (strpos(content, '<prompt'::text) > 0) STORED,
    "base_hash" TEXT,
    "valid_from" INTEGER NOT NULL DEFAULT 0,
    "valid_to" INTEGER,
    "deleted_at" TIMESTAMPTZ(3),
    "moved_from" TEXT,
    "author_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "document_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "forced_edit" (
    "id" SERIAL NOT NULL,
    "version_id" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "document_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,
    "old_content" TEXT,
    "old_hash" TEXT,
    "old_author_id" INTEGER,
    "old_updated_at" TIMESTAMPTZ(3),
    "new_content" TEXT NOT NULL,
    "new_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "forced_edit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "release" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "version_id" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL,
    "from_version_id" INTEGER,
    "from_revision" INTEGER,
    "returns_to" INTEGER,
    "author_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "reason" TEXT,
    "overrides" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "release_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_key" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "sealed_token" TEXT NOT NULL,
    "masked_token" TEXT NOT NULL,
    "url" TEXT,
    "default_model" TEXT,
    "configuration" JSON NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "provider_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "conversation" (
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "version_uuid" UUID NOT NULL,
    "document_uuid" UUID NOT NULL,
    "path" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "custom_identifier" TEXT,
    "origin" TEXT NOT NULL,
    "via" TEXT NOT NULL DEFAULT 'api',
    "judged_uuid" UUID,
    "config" JSON NOT NULL,
    "messages" JSON NOT NULL DEFAULT '[]',
    "status" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "last_event_id" INTEGER NOT NULL DEFAULT 0,
    "note" TEXT,
    "note_by" INTEGER,
    "note_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "conversation_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "conversation_tag" (
    "project_id" INTEGER NOT NULL,
    "tag" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,

    CONSTRAINT "conversation_tag_pkey" PRIMARY KEY ("project_id","tag","at","conversation_uuid")
);

-- CreateTable
CREATE TABLE "log_entry" (
    "id" SERIAL NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "version_id" INTEGER NOT NULL,
    "parameters" JSON NOT NULL,
    "duration_ms" INTEGER,
    "trace_id" TEXT NOT NULL,
    "prompt_span_id" TEXT NOT NULL,
    "completion_span_id" TEXT NOT NULL,

    CONSTRAINT "log_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "evaluation" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "type" TEXT NOT NULL DEFAULT 'human',
    "metric" TEXT NOT NULL,
    "configuration" JSON NOT NULL,
    "checks" JSON,
    "judge_document_uuid" UUID,
    "built_in" TEXT,
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "evaluation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "example" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "parameters" JSON NOT NULL,
    "messages" JSON NOT NULL,
    "expected" JSON,
    "checks" JSON NOT NULL DEFAULT '[]',
    "tool_results" JSON NOT NULL DEFAULT '{}',
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "source_run_uuid" UUID,
    "custom_identifier" TEXT,
    "position" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "example_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "experiment" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "path" TEXT NOT NULL,
    "tag" TEXT,
    "is_subset" BOOLEAN NOT NULL,
    "arms" JSON NOT NULL,
    "texts" TEXT NOT NULL,
    "content_key" TEXT NOT NULL,
    "trials" INTEGER NOT NULL,
    "evaluation_uuids" UUID[],
    "judges" JSON NOT NULL,
    "concurrency" INTEGER NOT NULL,
    "max_runs" INTEGER NOT NULL,
    "budget_usd" DOUBLE PRECISION NOT NULL,
    "estimate_usd" DOUBLE PRECISION,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "is_stale" BOOLEAN NOT NULL DEFAULT false,
    "origin" JSON,
    "author_id" INTEGER NOT NULL,
    "api_key_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "dropped_at" TIMESTAMPTZ(3),

    CONSTRAINT "experiment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "experiment_item" (
    "uuid" UUID NOT NULL,
    "experiment_id" INTEGER NOT NULL,
    "arm" INTEGER NOT NULL,
    "example_uuid" UUID NOT NULL,
    "row_hash" TEXT NOT NULL,
    "row_name" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "trial" INTEGER NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "is_retry" BOOLEAN NOT NULL DEFAULT false,
    "conversation_uuid" UUID NOT NULL,
    "other_uuids" UUID[] DEFAULT ARRAY[]::UUID[],
    "started_at" TIMESTAMPTZ(3),
    "code" TEXT,

    CONSTRAINT "experiment_item_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "annotation" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "evaluation_uuid" UUID NOT NULL,
    "version_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'scored',
    "code" TEXT,
    "score" DOUBLE PRECISION,
    "normalized_score" INTEGER,
    "has_passed" BOOLEAN,
    "metadata" JSON NOT NULL,
    "source" TEXT NOT NULL DEFAULT 'person',
    "judge_conversation_uuid" UUID,
    "scorer_hash" TEXT,
    "by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "annotation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run" (
    "uuid" UUID NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "version_uuid" UUID NOT NULL,
    "api_key_id" INTEGER,
    "author_id" INTEGER,
    "owner_id" TEXT,
    "epoch" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "overrides" JSON,
    "parameters" TEXT,
    "parameters_state" TEXT NOT NULL DEFAULT 'none',
    "request" TEXT,
    "first_event_id" INTEGER NOT NULL,
    "last_event_id" INTEGER,
    "error_code" TEXT,
    "error_message" TEXT,
    "result" JSON,
    "given_from" INTEGER,
    "given_count" INTEGER,
    "provider" TEXT,
    "model" TEXT,
    "finish_reason" TEXT,
    "started_at" TIMESTAMPTZ(3),
    "first_token_ms" INTEGER,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "cost_nano" BIGINT,
    "usage_estimated" BOOLEAN NOT NULL DEFAULT false,
    "spans" TEXT,
    "event_log" BYTEA,
    "input" TEXT,
    "via" TEXT NOT NULL DEFAULT 'api',
    "stop_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "run_figure" (
    "run_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "version_uuid" UUID NOT NULL,
    "model" TEXT,
    "via" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "first_token_ms" INTEGER,
    "input_tokens" INTEGER NOT NULL,
    "output_tokens" INTEGER NOT NULL,
    "cached_tokens" INTEGER NOT NULL,
    "cost_nano" BIGINT,
    "usage_estimated" BOOLEAN NOT NULL,

    CONSTRAINT "run_figure_pkey" PRIMARY KEY ("run_uuid")
);

-- CreateTable
CREATE TABLE "run_day" (
    "project_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "scope" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "cells" JSON NOT NULL,

    CONSTRAINT "run_day_pkey" PRIMARY KEY ("project_id","day","scope","by")
);

-- CreateTable
CREATE TABLE "tool_call" (
    "id" TEXT NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "run_uuid" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "result" TEXT,
    "is_error" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "instance" (
    "id" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_record" (
    "id" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "conversation_uuid" UUID,
    "run_uuid" UUID,
    "project_id" INTEGER,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "erasure" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER,
    "custom_identifier" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "author_workspace_id_idx" ON "author"("workspace_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_workspace_id_idx" ON "api_key"("workspace_id");

-- CreateIndex
CREATE INDEX "api_key_author_id_idx" ON "api_key"("author_id");

-- CreateIndex
CREATE INDEX "api_key_project_id_idx" ON "api_key"("project_id");

-- CreateIndex
CREATE UNIQUE INDEX "session_token_hash_key" ON "session"("token_hash");

-- CreateIndex
CREATE INDEX "session_workspace_id_created_at_idx" ON "session"("workspace_id", "created_at");

-- CreateIndex
CREATE INDEX "session_api_key_id_idx" ON "session"("api_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_link_code_hash_key" ON "sign_in_link"("code_hash");

-- CreateIndex
CREATE INDEX "sign_in_link_workspace_id_expires_at_idx" ON "sign_in_link"("workspace_id", "expires_at");

-- CreateIndex
CREATE INDEX "sign_in_link_api_key_id_idx" ON "sign_in_link"("api_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "project_live_version_id_key" ON "project"("live_version_id");

-- CreateIndex
CREATE INDEX "project_workspace_id_last_edited_at_id_idx" ON "project"("workspace_id", "last_edited_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "version_uuid_key" ON "version"("uuid");

-- CreateIndex
CREATE INDEX "version_project_id_created_at_idx" ON "version"("project_id", "created_at");

-- CreateIndex
CREATE INDEX "version_author_id_idx" ON "version"("author_id");

-- CreateIndex
CREATE INDEX "version_base_version_id_idx" ON "version"("base_version_id");

-- CreateIndex
CREATE INDEX "version_deleted_at_idx" ON "version"("deleted_at") WHERE (deleted_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "version_project_id_number_key" ON "version"("project_id", "number");

-- CreateIndex
CREATE INDEX "document_version_id_moved_from_idx" ON "document"("version_id", "moved_from") WHERE (moved_from IS NOT NULL);

-- CreateIndex
CREATE INDEX "document_project_id_valid_from_idx" ON "document"("project_id", "valid_from");

-- CreateIndex
CREATE INDEX "document_project_id_valid_to_refers_idx" ON "document"("project_id", "valid_to", "refers");

-- CreateIndex
CREATE INDEX "document_document_uuid_idx" ON "document"("document_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "document_version_id_path_valid_from_key" ON "document"("version_id", "path", "valid_from");

-- CreateIndex
CREATE UNIQUE INDEX "document_project_id_path_valid_to_key" ON "document"("project_id", "path", "valid_to");

-- CreateIndex
CREATE UNIQUE INDEX "document_project_id_document_uuid_valid_to_key" ON "document"("project_id", "document_uuid", "valid_to");

-- CreateIndex
CREATE UNIQUE INDEX "forced_edit_version_id_revision_key" ON "forced_edit"("version_id", "revision");

-- CreateIndex
CREATE UNIQUE INDEX "release_uuid_key" ON "release"("uuid");

-- CreateIndex
CREATE INDEX "release_version_id_idx" ON "release"("version_id");

-- CreateIndex
CREATE INDEX "release_from_version_id_idx" ON "release"("from_version_id");

-- CreateIndex
CREATE INDEX "release_author_id_idx" ON "release"("author_id");

-- CreateIndex
CREATE UNIQUE INDEX "release_project_id_seq_key" ON "release"("project_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "provider_key_workspace_id_name_key_key" ON "provider_key"("workspace_id", "name_key");

-- CreateIndex
CREATE INDEX "conversation_workspace_id_created_at_uuid_idx" ON "conversation"("workspace_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_project_id_created_at_uuid_idx" ON "conversation"("project_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_workspace_id_custom_identifier_idx" ON "conversation"("workspace_id", "custom_identifier") WHERE (custom_identifier IS NOT NULL);

-- CreateIndex
CREATE INDEX "conversation_version_uuid_created_at_uuid_idx" ON "conversation"("version_uuid", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_document_uuid_created_at_uuid_idx" ON "conversation"("document_uuid", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_deleted_at_idx" ON "conversation"("deleted_at") WHERE (deleted_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "conversation_judged_uuid_idx" ON "conversation"("judged_uuid") WHERE (judged_uuid IS NOT NULL);

-- CreateIndex
CREATE INDEX "conversation_tag_project_id_at_idx" ON "conversation_tag"("project_id", "at");

-- CreateIndex
CREATE INDEX "conversation_tag_conversation_uuid_idx" ON "conversation_tag"("conversation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "log_entry_conversation_uuid_key" ON "log_entry"("conversation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "evaluation_uuid_key" ON "evaluation"("uuid");

-- CreateIndex
CREATE INDEX "evaluation_workspace_id_id_idx" ON "evaluation"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "evaluation_project_id_idx" ON "evaluation"("project_id");

-- CreateIndex
CREATE UNIQUE INDEX "evaluation_project_id_built_in_key" ON "evaluation"("project_id", "built_in");

-- CreateIndex
CREATE UNIQUE INDEX "example_uuid_key" ON "example"("uuid");

-- CreateIndex
CREATE INDEX "example_author_id_idx" ON "example"("author_id");

-- CreateIndex
CREATE INDEX "example_source_run_uuid_idx" ON "example"("source_run_uuid") WHERE (source_run_uuid IS NOT NULL);

-- CreateIndex
CREATE INDEX "example_workspace_id_custom_identifier_idx" ON "example"("workspace_id", "custom_identifier") WHERE (custom_identifier IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "example_project_id_document_uuid_name_key" ON "example"("project_id", "document_uuid", "name");

-- CreateIndex
CREATE UNIQUE INDEX "experiment_uuid_key" ON "experiment"("uuid");

-- CreateIndex
CREATE INDEX "experiment_project_id_id_idx" ON "experiment"("project_id", "id");

-- CreateIndex
CREATE INDEX "experiment_document_uuid_id_idx" ON "experiment"("document_uuid", "id");

-- CreateIndex
CREATE INDEX "experiment_state_idx" ON "experiment"("state") WHERE (state = 'running'::text);

-- CreateIndex
CREATE INDEX "experiment_finished_at_idx" ON "experiment"("finished_at") WHERE (dropped_at IS NULL);

-- CreateIndex
CREATE INDEX "experiment_author_id_idx" ON "experiment"("author_id");

-- CreateIndex
CREATE UNIQUE INDEX "experiment_project_id_document_uuid_content_key_key" ON "experiment"("project_id", "document_uuid", "content_key") WHERE (state = 'running'::text);

-- CreateIndex
CREATE INDEX "experiment_item_experiment_id_position_trial_arm_idx" ON "experiment_item"("experiment_id", "position", "trial", "arm");

-- CreateIndex
CREATE INDEX "experiment_item_conversation_uuid_idx" ON "experiment_item"("conversation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "experiment_item_experiment_id_arm_example_uuid_trial_key" ON "experiment_item"("experiment_id", "arm", "example_uuid", "trial");

-- CreateIndex
CREATE UNIQUE INDEX "annotation_uuid_key" ON "annotation"("uuid");

-- CreateIndex
CREATE INDEX "annotation_conversation_uuid_id_idx" ON "annotation"("conversation_uuid", "id");

-- CreateIndex
CREATE INDEX "annotation_evaluation_uuid_idx" ON "annotation"("evaluation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "annotation_conversation_uuid_evaluation_uuid_scorer_hash_key" ON "annotation"("conversation_uuid", "evaluation_uuid", "scorer_hash");

-- CreateIndex
CREATE INDEX "run_conversation_uuid_created_at_idx" ON "run"("conversation_uuid", "created_at");

-- CreateIndex
CREATE INDEX "run_status_owner_id_idx" ON "run"("status", "owner_id") WHERE (ended_at IS NULL);

-- CreateIndex
CREATE INDEX "run_ended_at_idx" ON "run"("ended_at");

-- CreateIndex
CREATE INDEX "run_project_id_created_at_uuid_idx" ON "run"("project_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "run_failed_idx" ON "run"("project_id", "created_at", "uuid") WHERE (status = 'error'::text);

-- CreateIndex
CREATE INDEX "run_document_uuid_created_at_uuid_idx" ON "run"("document_uuid", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "run_figure_project_id_at_idx" ON "run_figure"("project_id", "at");

-- CreateIndex
CREATE INDEX "run_figure_document_uuid_at_idx" ON "run_figure"("document_uuid", "at");

-- CreateIndex
CREATE INDEX "tool_call_run_uuid_idx" ON "tool_call"("run_uuid");

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

-- CreateIndex
CREATE INDEX "idempotency_record_conversation_uuid_idx" ON "idempotency_record"("conversation_uuid") WHERE (conversation_uuid IS NOT NULL);

-- CreateIndex
CREATE INDEX "idempotency_record_project_id_idx" ON "idempotency_record"("project_id") WHERE (project_id IS NOT NULL);

-- AddForeignKey
ALTER TABLE "author" ADD CONSTRAINT "author_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_live_version_id_fkey" FOREIGN KEY ("live_version_id") REFERENCES "version"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "version" ADD CONSTRAINT "version_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "version" ADD CONSTRAINT "version_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "version" ADD CONSTRAINT "version_base_version_id_fkey" FOREIGN KEY ("base_version_id") REFERENCES "version"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "document" ADD CONSTRAINT "document_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "document" ADD CONSTRAINT "document_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "forced_edit" ADD CONSTRAINT "forced_edit_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "release" ADD CONSTRAINT "release_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "release" ADD CONSTRAINT "release_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "release" ADD CONSTRAINT "release_from_version_id_fkey" FOREIGN KEY ("from_version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "release" ADD CONSTRAINT "release_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_key" ADD CONSTRAINT "provider_key_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "conversation_tag" ADD CONSTRAINT "conversation_tag_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_entry" ADD CONSTRAINT "log_entry_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "evaluation" ADD CONSTRAINT "evaluation_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "example" ADD CONSTRAINT "example_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "example" ADD CONSTRAINT "example_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "experiment" ADD CONSTRAINT "experiment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "experiment" ADD CONSTRAINT "experiment_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "experiment_item" ADD CONSTRAINT "experiment_item_experiment_id_fkey" FOREIGN KEY ("experiment_id") REFERENCES "experiment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_evaluation_uuid_fkey" FOREIGN KEY ("evaluation_uuid") REFERENCES "evaluation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_run_uuid_fkey" FOREIGN KEY ("run_uuid") REFERENCES "run"("uuid") ON DELETE CASCADE ON UPDATE CASCADE;

-- Compressing a large conversation took most of the time of its write (ADR 74): lz4 is much faster. Where PostgreSQL was
-- built without it, messages are stored as they are.
DO $$
BEGIN
    EXECUTE 'ALTER TABLE "conversation" ALTER COLUMN "messages" SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported THEN
    EXECUTE 'ALTER TABLE "conversation" ALTER COLUMN "messages" SET STORAGE EXTERNAL';
END
$$;

-- Releases and forced edits are insert-only. Only the purge of their project passes.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner INTEGER;
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF TG_TABLE_NAME = 'forced_edit' THEN
            SELECT v."project_id" INTO owner FROM "version" v WHERE v."id" = OLD."version_id";
        ELSE
            owner := OLD."project_id";
        END IF;
        IF NOT EXISTS (SELECT FROM "project" p WHERE p."id" = owner AND p."deleted_at" IS NULL) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '% is insert-only', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;

CREATE TRIGGER "insert_only" BEFORE UPDATE OR DELETE ON "release" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

CREATE TRIGGER "insert_only" BEFORE UPDATE OR DELETE ON "forced_edit" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
