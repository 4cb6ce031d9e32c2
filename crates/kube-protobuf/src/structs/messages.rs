//! The structs and their fields, from the table `structs.in`, which is made.

use k8s_openapi::{api, apimachinery};

use super::dropped::Within;
use super::fields::{Field, Fields, Known, Missing, read_fields};
use super::read::Blank;

include!("../../structs.in");
