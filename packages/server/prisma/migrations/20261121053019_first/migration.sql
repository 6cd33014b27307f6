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
CREATE TABLE "project" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "default_provider" TEXT,
    "default_model" TEXT,
    "live_version_id" INTEGER,
    "last_edited_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

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
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

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
    "base_hash" TEXT,
    "valid_from" INTEGER NOT NULL DEFAULT 0,
    "valid_to" INTEGER,
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "document_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "forced_edit" (
    "id" SERIAL NOT NULL,
    "version_id" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "author_id" INTEGER NOT NULL,
    "old_hash" TEXT,
    "new_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "forced_edit_pkey" PRIMARY KEY ("id")
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
    "configuration" JSONB NOT NULL DEFAULT '{}',
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
    "config" JSONB NOT NULL,
    "messages" JSONB NOT NULL DEFAULT '[]',
    "status" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "last_event_id" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "conversation_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "run" (
    "uuid" UUID NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "owner_id" TEXT,
    "epoch" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "first_event_id" INTEGER NOT NULL,
    "last_event_id" INTEGER,
    "error_code" TEXT,
    "error_message" TEXT,
    "result" JSONB,
    "event_log" BYTEA,
    "stop_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_pkey" PRIMARY KEY ("uuid")
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
CREATE UNIQUE INDEX "version_project_id_number_key" ON "version"("project_id", "number");

-- CreateIndex
CREATE INDEX "document_project_id_valid_to_idx" ON "document"("project_id", "valid_to");

-- CreateIndex
CREATE INDEX "document_document_uuid_idx" ON "document"("document_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "document_version_id_path_valid_from_key" ON "document"("version_id", "path", "valid_from");

-- CreateIndex
CREATE UNIQUE INDEX "document_project_id_path_valid_to_key" ON "document"("project_id", "path", "valid_to");

-- CreateIndex
CREATE INDEX "forced_edit_version_id_idx" ON "forced_edit"("version_id");

-- CreateIndex
CREATE UNIQUE INDEX "provider_key_workspace_id_name_key_key" ON "provider_key"("workspace_id", "name_key");

-- CreateIndex
CREATE INDEX "conversation_workspace_id_created_at_uuid_idx" ON "conversation"("workspace_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_project_id_created_at_uuid_idx" ON "conversation"("project_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "run_conversation_uuid_created_at_idx" ON "run"("conversation_uuid", "created_at");

-- CreateIndex
CREATE INDEX "run_status_owner_id_idx" ON "run"("status", "owner_id");

-- AddForeignKey
ALTER TABLE "author" ADD CONSTRAINT "author_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_live_version_id_fkey" FOREIGN KEY ("live_version_id") REFERENCES "version"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "version" ADD CONSTRAINT "version_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "version" ADD CONSTRAINT "version_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "document" ADD CONSTRAINT "document_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "document" ADD CONSTRAINT "document_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "forced_edit" ADD CONSTRAINT "forced_edit_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "version"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_key" ADD CONSTRAINT "provider_key_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;
