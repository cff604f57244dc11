#include "boot.h"

#include <jni.h>
#include <limits.h>
#include <stdint.h>

#include "failure.h"
#include "home.h"
#include "jvm.h"
#include "log.h"

#ifndef JNI_VERSION_24
#define JNI_VERSION_24 0x00180000
#endif

#define OF_DIFFERENT_VERSIONS "the jars and this library are of different versions"

/* The JVM, and the object: for as long as the process lives. */
static JavaVM *java_vm;
static jobject plugin_entry;

/* Fails with the text of the pending exception. */
static bool fails_with_exception(JNIEnv *env, const char *what) {
  jthrowable thrown = (*env)->ExceptionOccurred(env);
  (*env)->ExceptionClear(env);
  const char *text = NULL;
  jstring string = NULL;
  if (thrown != NULL) {
    jclass object = (*env)->FindClass(env, "java/lang/Object");
    jmethodID to_string = (*env)->GetMethodID(env, object, "toString", "()Ljava/lang/String;");
    string = (jstring)(*env)->CallObjectMethod(env, thrown, to_string);
    (*env)->ExceptionClear(env);
    text = string == NULL ? NULL : (*env)->GetStringUTFChars(env, string, NULL);
  }
  (void)start_fails("%s: %s", what, text == NULL ? "no reason given" : text);
  if (text != NULL) {
    (*env)->ReleaseStringUTFChars(env, string, text);
  }
  return false;
}

/* new File(path).toURI().toURL() */
static jobject url_of(JNIEnv *env, const char *path) {
  jclass file = (*env)->FindClass(env, "java/io/File");
  jclass uri = (*env)->FindClass(env, "java/net/URI");
  jmethodID new_file = (*env)->GetMethodID(env, file, "<init>", "(Ljava/lang/String;)V");
  jmethodID to_uri = (*env)->GetMethodID(env, file, "toURI", "()Ljava/net/URI;");
  jmethodID to_url = (*env)->GetMethodID(env, uri, "toURL", "()Ljava/net/URL;");
  jobject opened = (*env)->NewObject(env, file, new_file, (*env)->NewStringUTF(env, path));
  jobject named = opened == NULL ? NULL : (*env)->CallObjectMethod(env, opened, to_uri);
  return named == NULL ? NULL : (*env)->CallObjectMethod(env, named, to_url);
}

/* The URLs of the jars, or NULL with an exception pending. */
static jobjectArray urls_of_jars(JNIEnv *env, const struct home *home) {
  char path[PATH_MAX];
  jclass url = (*env)->FindClass(env, "java/net/URL");
  jobjectArray array = (*env)->NewObjectArray(env, home->list.count, url, NULL);
  for (jsize i = 0; array != NULL && i < home->list.count; i++) {
    if (!path_of(path, home->jars, home->list.entries[i]->d_name) || (*env)->PushLocalFrame(env, 16) != JNI_OK) {
      return NULL;
    }
    jobject element = (*env)->PopLocalFrame(env, url_of(env, path));
    if (element == NULL) {
      return NULL;
    }
    (*env)->SetObjectArrayElement(env, array, i, element);
  }
  return array;
}

/* In a JVM of the host's: an own class loader, so that its libraries and Trigon's do not meet. */
static jclass load_beside_host(JNIEnv *env, const struct home *home, const char *name) {
  jobjectArray urls = urls_of_jars(env, home);
  if (urls == NULL) {
    return NULL;
  }
  jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
  jclass url_loader = (*env)->FindClass(env, "java/net/URLClassLoader");
  jmethodID platform = (*env)->GetStaticMethodID(env, loader, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  jmethodID new_loader =
      (*env)->GetMethodID(env, url_loader, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V");
  jmethodID load = (*env)->GetMethodID(env, loader, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  jobject parent = (*env)->CallStaticObjectMethod(env, loader, platform);
  jobject jars = (*env)->NewObject(env, url_loader, new_loader, urls, parent);
  return jars == NULL ? NULL
                      : (jclass)(*env)->CallObjectMethod(env, jars, load, (*env)->NewStringUTF(env, name));
}

/* The current thread's; NULL if the JVM refuses it. */
static JNIEnv *attach(JavaVM *vm) {
  JNIEnv *env = NULL;
  JavaVMAttachArgs arguments = {.version = JNI_VERSION_10, .name = "trigon-start"};
  return (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments) == JNI_OK ? env : NULL;
}

/*
 * sun.nio.ch tells which file descriptor a socket of Java's has, for the data path of software links. By JNI, since
 * --add-exports is for the JVM's start, and the host's may run already.
 */
static bool export_channels(JNIEnv *env) {
  jclass object = (*env)->FindClass(env, "java/lang/Object");
  jclass class = (*env)->FindClass(env, "java/lang/Class");
  jclass module = (*env)->FindClass(env, "java/lang/Module");
  jmethodID get_module = (*env)->GetMethodID(env, class, "getModule", "()Ljava/lang/Module;");
  jmethodID export = (*env)->GetMethodID(env, module, "implAddExportsToAllUnnamed", "(Ljava/lang/String;)V");
  if (export != NULL) {
    jobject base = (*env)->CallObjectMethod(env, object, get_module);
    (*env)->CallVoidMethod(env, base, export, (*env)->NewStringUTF(env, "sun.nio.ch"));
  }
  return !(*env)->ExceptionCheck(env) || fails_with_exception(env, "the JVM does not say which sockets it has");
}

static bool make_entry(JavaVM *vm, JNIEnv *env, jclass class, const void *host_block) {
  if (class == NULL) {
    return fails_with_exception(env, "cannot load trigon.entry.PluginEntry from the jars");
  }
  if (!export_channels(env)) {
    return false;
  }
  jmethodID constructor = (*env)->GetMethodID(env, class, "<init>", "(J)V");
  if (constructor == NULL) {
    return fails_with_exception(env, "trigon.entry.PluginEntry has no constructor (long): " OF_DIFFERENT_VERSIONS);
  }
  jobject entry = (*env)->NewObject(env, class, constructor, (jlong)(intptr_t)host_block);
  plugin_entry = entry == NULL ? NULL : (*env)->NewGlobalRef(env, entry);
  java_vm = vm;
  return plugin_entry != NULL || fails_with_exception(env, "the start in Java failed");
}

/* In the host's JVM, which may be older than Trigon's classes. */
static bool boot_in_running(JavaVM *vm, const struct home *home, const void *host_block) {
  JNIEnv *env = attach(vm);
  if (env == NULL) {
    return start_fails("cannot attach to the JVM that runs in this process");
  }
  java_vm = vm;
  if ((*env)->GetVersion(env) < JNI_VERSION_24) {
    return start_fails("the JVM that runs in this process is older than Java " JAVA_FEATURE_RELEASE
                       "; run the program with Java " JAVA_FEATURE_RELEASE " or newer, or NCCL in another process");
  }
  log_text(NCCL_LOG_INFO, "using the JVM that runs in this process");
  return make_entry(vm, env, load_beside_host(env, home, "trigon.entry.PluginEntry"), host_block);
}

static bool boot_in_new(void *libjvm, const struct home *home, const void *host_block) {
  JavaVM *vm = NULL;
  JNIEnv *env = NULL;
  return create_jvm(libjvm, home, &vm, &env) &&
         make_entry(vm, env, (*env)->FindClass(env, "trigon/entry/PluginEntry"), host_block);
}

bool boot_java(const void *host_block) {
  static struct home home;
  void *libjvm = NULL;
  if (!find_home(&home) || !open_libjvm(&home, &libjvm)) {
    return false;
  }
  JavaVM *vm = running_jvm(libjvm);
  return vm != NULL ? boot_in_running(vm, &home, host_block) : boot_in_new(libjvm, &home, host_block);
}

bool call_entry(const char *name, const void *block, int *result) {
  JNIEnv *env = attach(java_vm);
  if (env == NULL) {
    return start_fails("cannot attach to the JVM");
  }
  jmethodID method = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, plugin_entry), name, "(J)I");
  if (method == NULL) {
    return fails_with_exception(env, "trigon.entry.PluginEntry lacks a method (long): " OF_DIFFERENT_VERSIONS);
  }
  *result = (*env)->CallIntMethod(env, plugin_entry, method, (jlong)(intptr_t)block);
  return !(*env)->ExceptionCheck(env) || fails_with_exception(env, "the start in Java failed");
}

void leave_java(void) {
  if (java_vm != NULL) {
    (void)(*java_vm)->DetachCurrentThread(java_vm);
  }
}
