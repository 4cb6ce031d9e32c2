//! Carries out what people write, and keeps the truth about it.

use informer_testkit::{Object, Resource};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::{
    object::{Content, Form, NAMESPACES, TIERS, body},
    plan::Write,
    run::World,
    truth::Written,
};

impl<T: Form> World<T> {
    pub(crate) fn write(&mut self, write: Write) {
        match write {
            Write::Put { namespace, name } => {
                let tier = TIERS[usize::from(self.serial % 3 == 2)];
                self.put(namespace, name, tier);
            }
            Write::Delete { namespace, name } => self.delete(namespace, name),
            Write::Recreate { namespace, name } => {
                self.delete(namespace, name);
                self.put(namespace, name, TIERS[0]);
            }
            Write::Flash { namespace, name } => {
                self.delete(namespace, name);
                self.put(namespace, name, TIERS[0]);
                self.delete(namespace, name);
            }
            Write::FlipLabel { namespace, name } => {
                let present = self.present(namespace, name);
                let first = present.is_some_and(|present| tier(&present) == TIERS[0]);
                self.put(namespace, name, TIERS[usize::from(first)]);
            }
            Write::Wipe { namespace } => {
                for name in 0..crate::object::NAMES {
                    self.delete(namespace, name);
                }
            }
        }
    }

    fn present(&self, namespace: usize, name: usize) -> Option<Object> {
        let config_maps = Resource::config_maps();
        let found = self
            .server
            .get(&config_maps, NAMESPACES[namespace], &format!("k{name}"));
        found.ok()
    }

    fn put(&mut self, namespace: usize, name: usize, tier: &str) {
        self.serial += 1;
        let (namespace, name) = (NAMESPACES[namespace], format!("k{name}"));
        let template = self.plan.informer.template(self.serial);
        let object = body(namespace, &name, tier, self.serial, template);
        let config_maps = Resource::config_maps();
        let written = match self.server.get(&config_maps, namespace, &name) {
            Ok(_) => self.server.replace(&config_maps, object),
            Err(_) => self.server.create(&config_maps, object),
        };
        let written = written.expect("a write without conditions succeeds");
        self.note(&written, self.serial, false);
    }

    fn delete(&mut self, namespace: usize, name: usize) {
        let name = format!("k{name}");
        let deleted = self
            .server
            .delete(&Resource::config_maps(), NAMESPACES[namespace], &name);
        if let Ok(deletion) = deleted {
            let last = deletion.object();
            self.note(last, serial(last), true);
        }
    }

    fn note(&mut self, object: &Object, serial: u64, is_deletion: bool) {
        self.truth.record(Written {
            at: self.now(),
            version: object.version(),
            key: key(object),
            uid: object.uid().to_owned(),
            serial,
            tier: tier(object).to_owned(),
            is_deletion,
            is_undone: false,
        });
    }
}

/// The key of an object on the server.
pub(crate) fn key(object: &Object) -> String {
    let namespace = object.namespace().unwrap_or_default();
    format!("{namespace}/{}", object.name())
}

pub(crate) fn tier(object: &Object) -> &str {
    object.labels().get("tier").map_or("", String::as_str)
}

/// Which write made an object on the server.
pub(crate) fn serial(object: &Object) -> u64 {
    let object: ConfigMap = object.decode().expect("config maps can be decoded");
    object.serial()
}
