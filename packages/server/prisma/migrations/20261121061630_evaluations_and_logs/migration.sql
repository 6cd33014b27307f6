-- CreateTable
CREATE TABLE "log_entry" (
    "id" SERIAL NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "version_id" INTEGER NOT NULL,
    "parameters" JSONB NOT NULL,
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
    "metric" TEXT NOT NULL,
    "configuration" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "evaluation_pkey" PRIMARY KEY ("id")
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
    "score" DOUBLE PRECISION NOT NULL,
    "normalized_score" INTEGER NOT NULL,
    "has_passed" BOOLEAN NOT NULL,
    "metadata" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "annotation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "log_entry_conversation_uuid_key" ON "log_entry"("conversation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "evaluation_uuid_key" ON "evaluation"("uuid");

-- CreateIndex
CREATE INDEX "evaluation_workspace_id_id_idx" ON "evaluation"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "evaluation_project_id_idx" ON "evaluation"("project_id");

-- CreateIndex
CREATE UNIQUE INDEX "annotation_uuid_key" ON "annotation"("uuid");

-- CreateIndex
CREATE INDEX "annotation_conversation_uuid_id_idx" ON "annotation"("conversation_uuid", "id");

-- CreateIndex
CREATE INDEX "annotation_evaluation_uuid_idx" ON "annotation"("evaluation_uuid");

-- CreateIndex
CREATE INDEX "conversation_workspace_id_custom_identifier_idx" ON "conversation"("workspace_id", "custom_identifier");

-- AddForeignKey
ALTER TABLE "log_entry" ADD CONSTRAINT "log_entry_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "evaluation" ADD CONSTRAINT "evaluation_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_evaluation_uuid_fkey" FOREIGN KEY ("evaluation_uuid") REFERENCES "evaluation"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;
